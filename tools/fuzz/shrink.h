// Makes a failing run small: fewer clients, operations, faults and features, and a shorter schedule, as
// long as the same property is violated.
//
// A simpler scenario asks other questions, so the recorded schedule does not fit it; schedules are searched
// for anew, a bounded number for each simplification. When the scenario gets no simpler, the schedule is:
// answers are replaced by neutral ones (the first that can move, no fault, everything at once).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fabric/sim/strategies/recording_strategy.h"
#include "tools/fuzz/run.h"
#include "tools/fuzz/scenario.h"

namespace falafel::fuzz {

struct FailingRun {
  Scenario scenario;
  std::vector<sim::Choice> choices;
  StoreRun run;
};

struct ShrinkOptions {
  double seconds = 40;          // at most, and a quarter more for the schedule
  std::uint64_t tries = 2'000;  // schedules for each simplification
  bool paranoid = false;
};

// Records the run of a strategy.
FailingRun record(Runner& runner, const Scenario& scenario, sim::Strategy& strategy,
                  const RunOptions& options = {});

// `failing` violates `property`, which the result violates first. Whenever the run has become smaller
// `progress` is called with it.
FailingRun shrink(Runner& runner, FailingRun failing, const std::string& property,
                  const ShrinkOptions& options,
                  const std::function<void(const FailingRun&)>& progress);

// The same for a run that kills its process, or never ends; each try is a process of its own. Nothing if it
// does neither. `progress` may be called for the first recording already.
std::optional<FailingRun> shrink_crash(const Scenario& scenario, sim::Strategy& strategy,
                                       const ShrinkOptions& options,
                                       const std::function<void(const FailingRun&)>& progress);

// The choice after which the violation could no longer be avoided: the first such that all of `tries`
// random continuations behind it violate the property too. Its position, from 0.
std::size_t find_critical_choice(Runner& runner, const FailingRun& failing, std::uint64_t tries);

}  // namespace falafel::fuzz
