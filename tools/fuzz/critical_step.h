// The step from which on a run cannot but fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tools/fuzz/run.h"
#include "tools/fuzz/shrink.h"

namespace falafel::fuzz {

struct CriticalStep {
  std::size_t choice = 0;  // its position, from 0; see find_critical_choice
  std::uint64_t step = 0;  // at which it was asked for
};

// Empty if nothing is violated, or `tries` is 0.
std::optional<CriticalStep> find_critical_step(Runner& runner, const FailingRun& failing,
                                               std::uint64_t tries);

}  // namespace falafel::fuzz
