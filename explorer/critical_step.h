// The critical step: the step after which a run can no longer avoid its failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "explorer/failing_run.h"

namespace falafel::explorer {

struct CriticalStep {
  std::size_t choice = 0;  // position, starting from 0; see find_critical_choice
  std::uint64_t step = 0;  // how many steps there had been when the choice was made
  // The step that the choice is part of: after it, the failure cannot be avoided any more.
  std::uint64_t deciding_step = 0;
};

// Returns the position, starting from 0, of the first choice after which all of `tries` random
// continuations violate the property too.
std::size_t find_critical_choice(Runner& runner, const FailingRun& failing, std::uint64_t tries);

// Returns nullopt if nothing is violated or `tries` is 0.
std::optional<CriticalStep> find_critical_step(Runner& runner, const FailingRun& failing,
                                               std::uint64_t tries);

}  // namespace falafel::explorer
