// Shrinks a failing run: fewer parties, operations, faults and features, and a shorter schedule
// that still violates the same property.
//
// A simpler scenario asks the strategy different questions, so the recorded schedule does not match
// it. Shrinking therefore tries a bounded number of new schedules for each simplification. When the
// scenario cannot be simplified further, it tries as many schedules once more and keeps the
// shortest. Then it simplifies that one: it replaces answers with neutral ones (the first actor, no
// fault, everything at once).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "explorer/failing_run.h"

namespace falafel::explorer {

struct ShrinkOptions {
  double seconds = 40;          // for the scenario; the schedule gets another quarter of it
  std::uint64_t tries = 2'000;  // number of schedules for each simplification
};

// `failing` must violate `property`, which is the first violation of the result. Calls `progress`
// with each smaller run.
FailingRun shrink(Runner& runner, FailingRun failing, const std::string& property,
                  const ShrinkOptions& options,
                  const std::function<void(const FailingRun&)>& progress);

// The same for a run that ends its process or hangs. Each attempt uses a separate process. Returns
// nullopt if the run ends on its own. The first call of `progress` may be for the recording itself.
std::optional<FailingRun> shrink_crash(const Program& program, const Scenario& scenario,
                                       sim::Strategy& strategy, const ShrinkOptions& options,
                                       const std::function<void(const FailingRun&)>& progress);

}  // namespace falafel::explorer
