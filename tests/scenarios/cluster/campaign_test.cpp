// Several servers under many schedules.
#include <gtest/gtest.h>

#include "explorer/campaign.h"
#include "tools/scenarios/cluster/program.h"

namespace falafel::cluster_scenario_test {
namespace {

TEST(ClusterScenario, IsLinearizableAndLosesOnlyTheKeysOfServersThatCrash) {
  const auto program = cluster_scenario::make_program();
  const auto result = explorer::run_campaign(*program, {.schedules = 1'000});
  for (const auto& [property, finding] : result.findings) {
    ADD_FAILURE() << property << ", seed " << finding.seed << ": " << finding.explanation;
  }
  EXPECT_GT(explorer::count_of(result.faults, to_string(sim::FaultKind::server_restart)), 100);
  for (const auto& [name, runs] : program->conditions()) EXPECT_GT(runs, 0) << name;
}

TEST(ClusterScenario, IsNotLinearizableIfClientsHaveDifferentServers) {
  const auto program = cluster_scenario::make_program()->without("same-servers");
  const auto result =
      explorer::run_campaign(*program, {.schedules = 1'000, .stops_at_violation = true});
  EXPECT_TRUE(result.findings.contains("linearizability"));
}

TEST(ChangingClusterScenario, LosesNoKey) {
  const auto program = cluster_scenario::make_changing_program();
  const auto result = explorer::run_campaign(*program, {.schedules = 500});
  for (const auto& [property, finding] : result.findings) {
    ADD_FAILURE() << property << ", seed " << finding.seed << ": " << finding.explanation;
  }
  for (const auto& [name, runs] : program->conditions()) EXPECT_GT(runs, 0) << name;
}

TEST(ChangingClusterScenario, IsNotLinearizableWithoutAnyPartOfTheRule) {
  const auto program = cluster_scenario::make_changing_program();
  ASSERT_EQ(program->safeguards().size(), 5);
  for (const std::string& safeguard : program->safeguards()) {
    const auto flawed = program->without(safeguard);
    const auto result =
        explorer::run_campaign(*flawed, {.schedules = 3'000, .stops_at_violation = true});
    EXPECT_TRUE(result.findings.contains("linearizability")) << safeguard;
  }
}

}  // namespace
}  // namespace falafel::cluster_scenario_test
