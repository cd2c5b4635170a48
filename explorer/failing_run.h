// A recorded run: its scenario and its schedule, which together repeat it exactly.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "explorer/program.h"
#include "fabric/sim/strategies/recording_strategy.h"
#include "fabric/sim/strategies/step_counter.h"

namespace falafel::explorer {

struct FailingRun {
  std::shared_ptr<const Scenario> scenario;
  std::vector<sim::Choice> choices;
  Run run;
};

// The answers of a schedule, in order.
std::vector<std::uint64_t> answers_of(const std::vector<sim::Choice>& choices);

// Records the run of a strategy.
FailingRun record(Runner& runner, const Scenario& scenario, sim::Strategy& strategy);

// The strategy that a campaign uses for a seed, of the kind in the scenario. The kind `urw` needs
// to know how many steps actors make. With a runner, it runs the scenario once before, with
// make_step_counter; without one, it is a plain random walk.
std::unique_ptr<sim::Strategy> make_seeded_strategy(const Scenario& scenario, std::uint64_t seed,
                                                    Runner* earlier_run = nullptr);

// The strategy of that earlier run.
sim::StepCounter make_step_counter(std::uint64_t seed);

}  // namespace falafel::explorer
