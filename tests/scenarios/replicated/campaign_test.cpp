// Replicated registers under many schedules.
#include <gtest/gtest.h>

#include <string>

#include "explorer/campaign.h"
#include "tools/scenarios/replicated/program.h"

namespace falafel::replicated_scenario_test {
namespace {

TEST(ReplicatedScenario, IsLinearizableAndAvailableAlthoughServersAndClientsDie) {
  const auto program = replicated_scenario::make_program();
  const auto result = explorer::run_campaign(*program, {.schedules = 2'000});
  for (const auto& [property, finding] : result.findings) {
    ADD_FAILURE() << property << ", seed " << finding.seed << ": " << finding.explanation;
  }
  EXPECT_GT(explorer::count_of(result.faults, to_string(sim::FaultKind::server_restart)), 100);
  EXPECT_GT(explorer::count_of(result.faults, to_string(sim::FaultKind::client_crash)), 100);
  for (const auto& [name, runs] : program->conditions()) EXPECT_GT(runs, 0) << name;
}

// Runs without one safeguard whose absence few schedules show.
class WithoutSafeguard : public testing::TestWithParam<std::string> {};

TEST_P(WithoutSafeguard, IsNotLinearizable) {
  const auto program = replicated_scenario::make_program()->without(GetParam());
  const auto result =
      explorer::run_campaign(*program, {.schedules = 20'000, .stops_at_violation = true});
  EXPECT_TRUE(result.findings.contains("linearizability"));
}

INSTANTIATE_TEST_SUITE_P(ReplicatedScenario, WithoutSafeguard,
                         testing::Values("majorities", "copies", "container-first", "unique-stamps",
                                         "repeated-swaps", "blind-deletes", "reader-marks",
                                         "writer-checks"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace falafel::replicated_scenario_test
