// A run that was recorded: its scenario and its schedule, which repeat it bit for bit.
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

// The strategy that a campaign uses for a seed: the kind that the scenario drew.
std::unique_ptr<sim::Strategy> make_seeded_strategy(const Scenario& scenario, std::uint64_t seed);

}  // namespace falafel::explorer
