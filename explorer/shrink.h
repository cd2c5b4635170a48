// Shrinks a failing run: fewer parties, operations, faults and features, and a shorter schedule that still
// violates the same property.
//
// A simpler scenario asks the strategy different questions, so the recorded schedule does not fit it.
// Shrinking searches for a new schedule for each simplification, a bounded number of times. When the
// scenario gets no simpler, it simplifies the schedule: it replaces answers by neutral ones (the first
// actor moves, no fault strikes, everything takes effect at once).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "explorer/failing_run.h"

namespace falafel::explorer {

struct ShrinkOptions {
  double seconds = 40;          // for the scenario; a quarter of it is added for the schedule
  std::uint64_t tries = 2'000;  // schedules for each simplification
};

// `failing` violates `property`, which is the first violation of the result. Calls `progress` with the run
// whenever it has become smaller.
FailingRun shrink(Runner& runner, FailingRun failing, const std::string& property,
                  const ShrinkOptions& options,
                  const std::function<void(const FailingRun&)>& progress);

// The same for a run that kills its process or never ends. Each try has a process of its own. Empty if the
// run ends by itself. The first call of `progress` may be for the recording itself.
std::optional<FailingRun> shrink_crash(const Program& program, const Scenario& scenario,
                                       sim::Strategy& strategy, const ShrinkOptions& options,
                                       const std::function<void(const FailingRun&)>& progress);

}  // namespace falafel::explorer
