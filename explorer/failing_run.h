// A recorded run: its scenario and its schedule, which together repeat it exactly.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "explorer/program.h"
#include "fabric/sim/strategies/recording_strategy.h"

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

// The strategy that a campaign uses for a seed, of the kind in the scenario.
std::unique_ptr<sim::Strategy> make_seeded_strategy(const Scenario& scenario, std::uint64_t seed);

}  // namespace falafel::explorer
