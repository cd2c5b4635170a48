// SWARM-KV under many schedules.
#include <gtest/gtest.h>

#include <string>

#include "explorer/campaign.h"
#include "tools/scenarios/swarm/program.h"

namespace falafel::swarm_scenario_test {
namespace {

TEST(SwarmScenario, IsLinearizableAndAvailableAlthoughNodesAndClientsDie) {
  const auto program = swarm_scenario::make_program();
  const auto result = explorer::run_campaign(*program, {.schedules = 3'000});
  for (const auto& [property, finding] : result.findings) {
    ADD_FAILURE() << property << ", seed " << finding.seed << ": " << finding.explanation;
  }
  EXPECT_GT(explorer::count_of(result.faults, to_string(sim::FaultKind::server_restart)), 100);
  EXPECT_GT(explorer::count_of(result.faults, to_string(sim::FaultKind::client_crash)), 100);
  for (const auto& [name, runs] : program->conditions()) EXPECT_GT(runs, 0) << name;
}

}  // namespace
}  // namespace falafel::swarm_scenario_test
