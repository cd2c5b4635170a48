// Several servers under many schedules.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "explorer/campaign.h"
#include "tools/scenarios/cluster/program.h"

namespace falafel::cluster_scenario_test {
namespace {

using cluster_scenario::WarmRuns;

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

void expect_no_finding(const check::WorldProgram& program, std::uint64_t schedules) {
  const auto result = explorer::run_campaign(program, {.schedules = schedules});
  for (const auto& [property, finding] : result.findings) {
    ADD_FAILURE() << property << ", seed " << finding.seed << ": " << finding.explanation;
  }
  for (const auto& [name, runs] : program.conditions()) EXPECT_GT(runs, 0) << name;
}

void expect_lost_keys(const explorer::Program& flawed, const std::string& safeguard) {
  const auto result =
      explorer::run_campaign(flawed, {.schedules = 3'000, .stops_at_violation = true});
  EXPECT_TRUE(result.findings.contains("linearizability")) << safeguard;
}

TEST(ChangingClusterScenario, LosesNoKey) {
  expect_no_finding(*cluster_scenario::make_changing_program(), 500);
}

TEST(ChangingClusterScenario, IsNotLinearizableWithoutAnyPartOfTheRule) {
  const auto program = cluster_scenario::make_changing_program();
  ASSERT_EQ(program->safeguards().size(), 5);
  for (const std::string& safeguard : program->safeguards()) {
    expect_lost_keys(*program->without(safeguard), safeguard);
  }
}

TEST(ChangingClusterScenario, CopiesTimesToLive) {
  expect_no_finding(*cluster_scenario::make_changing_program({.are_caches = true}), 500);
}

// Copies matter to few runs: five of the first 500 repeat a change whose copies were lost.
TEST(ChangingClusterScenario, LosesNoKeyWhenServersStartOverTheirMemory) {
  expect_no_finding(*cluster_scenario::make_changing_program({.warm = WarmRuns::only}), 500);
}

TEST(ChangingClusterScenario, IsNotLinearizableIfCopiesCountInTheWrongMemory) {
  const auto program = cluster_scenario::make_changing_program({.warm = WarmRuns::only});
  EXPECT_EQ(program->safeguards().size(), 7);
  for (const char* const safeguard : {"same-incarnation", "kept-copies"}) {
    expect_lost_keys(*program->without(safeguard), safeguard);
  }
}

TEST(ChangingClusterScenario, MixesRunsWithWarmRestartsAndWithout) {
  const auto program = cluster_scenario::make_changing_program({.warm = WarmRuns::some});
  const auto result = explorer::run_campaign(*program, {.schedules = 60});
  EXPECT_TRUE(result.findings.empty());
  const auto conditions = program->conditions();
  const std::uint64_t warm =
      conditions.at("a server starts over its memory while a change settles");
  EXPECT_GT(warm, 5);
  EXPECT_LT(warm, 30);
}

}  // namespace
}  // namespace falafel::cluster_scenario_test
