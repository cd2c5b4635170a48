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

// Runs without one safeguard whose absence few schedules show.
class WithoutSafeguard : public testing::TestWithParam<std::string> {};

TEST_P(WithoutSafeguard, ViolatesSomething) {
  const auto program = swarm_scenario::make_program()->without(GetParam());
  const auto result =
      explorer::run_campaign(*program, {.schedules = 5'000, .stops_at_violation = true});
  EXPECT_FALSE(result.findings.empty());
}

INSTANTIATE_TEST_SUITE_P(SwarmScenario, WithoutSafeguard,
                         testing::Values("majorities", "write-back", "buffer-first",
                                         "repeated-swaps", "in-place-hash", "reader-locks",
                                         "read-after-lock", "writer-checks", "followed-clock",
                                         "incarnations", "repair-contents", "filled-buffers",
                                         "unique-inserts", "key-checks", "own-index-node"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace falafel::swarm_scenario_test
