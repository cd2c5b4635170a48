// Scenarios in which the server starts over its memory: how they are drawn, and that they hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/probes.h"
#include "explorer/campaign.h"
#include "tests/explorer/describe_findings.h"
#include "tests/scenarios/store/drawn_worlds.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {
namespace {

using testing::HasSubstr;

ScenarioChoices warm_restarts(Share share) {
  ScenarioChoices choices;
  choices.warm_restarts = share;
  return choices;
}

TEST(WarmRestarts, LoseNothing) {
  const StoreProgram program(warm_restarts(Share::only));
  const auto result = explorer::run_campaign(program, {.schedules = 1'000});
  EXPECT_EQ(describe_findings(result), "");
  EXPECT_GT(explorer::count_of(result.probes, engine::probes::recovery_met_lock.name), 0U);
  EXPECT_GT(explorer::count_of(result.probes, engine::probes::recovery_met_moved_entry.name), 0U);
  EXPECT_GT(explorer::count_of(result.probes, engine::probes::recovery_collected_region.name),
            100U);
}

// The swap of a hostile client took effect after the server had died. The next server found the
// word in its memory, and the checkers did not know that it was an attack.
TEST(WarmRestarts, AreJudgedWithAttacksThatLandAfterADeath) {
  ScenarioChoices choices = warm_restarts(Share::only);
  choices.blocks = Share::only;
  const auto result =
      explorer::run_campaign(StoreProgram(choices), {.first_seed = 202'741, .schedules = 1});
  EXPECT_EQ(describe_findings(result), "");
}

TEST(WarmRestarts, LeaveDanglingEntriesIfMovedOnesAreNotRemoved) {
  const auto program = StoreProgram().without("moved-entry-removal");
  const auto result =
      explorer::run_campaign(*program, {.schedules = 5'000, .stops_at_violation = true});
  EXPECT_FALSE(result.findings.empty());
}

TEST(WarmRestarts, BringDeletedKeysBackIfKeysAreForgottenBeforeLocksAreRemoved) {
  const auto program = StoreProgram().without("unlock-before-forgetting");
  const auto result = explorer::run_campaign(
      *program, {.first_seed = 1, .schedules = 5'000, .stops_at_violation = true});
  EXPECT_FALSE(result.findings.empty());
}

TEST(WarmRestarts, AreDrawnAsChosen) {
  expect_drawn_as_chosen(warm_restarts(Share::some),
                         [](const Scenario& scenario) { return scenario.keeps_memory; });
  for (std::uint64_t seed = 1; seed <= drawn_seeds; ++seed) {
    const Scenario scenario = draw_scenario(warm_restarts(Share::only), seed);
    EXPECT_TRUE(scenario.keeps_memory);
    EXPECT_GT(scenario.simulation.fault_rate(sim::FaultKind::server_restart), 0U);
  }
}

TEST(WarmRestarts, AreNotDrawnWhereTheServerMustNotDie) {
  ScenarioChoices choices = warm_restarts(Share::only);
  choices.faults = {sim::FaultKind::client_crash};
  EXPECT_FALSE(draw_scenario(choices, 1).keeps_memory);
  choices = warm_restarts(Share::only);
  choices.safeguards = engine::Safeguards::published();
  EXPECT_FALSE(draw_scenario(choices, 1).keeps_memory);
}

TEST(WarmRestarts, SurviveJsonAndAreDocumented) {
  const std::string document = replay_file_document();
  EXPECT_THAT(document, HasSubstr("\n| `keeps_memory` |"));
  const Scenario scenario = draw_scenario(warm_restarts(Share::only), 1);
  const auto parsed = parse_scenario(scenario.to_json());
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  EXPECT_TRUE(parsed->keeps_memory);
  EXPECT_THAT(scenario.describe(), HasSubstr("memory stays when its process dies"));
  nlohmann::json published = scenario.to_json();
  published["safeguards"]["bounded-walks"] = false;
  EXPECT_THAT(parse_scenario(published).error(), HasSubstr("keeps_memory"));
}

}  // namespace
}  // namespace falafel::store_scenario
