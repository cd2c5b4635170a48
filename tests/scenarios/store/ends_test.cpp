// Scenarios in which clients wait for the end of all operations: how they are drawn, that they
// hold, and that clients hear of the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "explorer/campaign.h"
#include "tests/explorer/describe_findings.h"
#include "tests/scenarios/store/drawn_worlds.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {
namespace {

ScenarioChoices ends(Share share) {
  ScenarioChoices choices;
  choices.ends = share;
  return choices;
}

bool has_ends(const Scenario& scenario) {
  return std::ranges::any_of(scenario.clients, [](const ClientPlan& client) {
    return std::ranges::count(client.operations, OperationKind::wait_for_end,
                              &PlannedOperation::kind) > 0;
  });
}

TEST(EndWorlds, Hold) {
  const auto result = explorer::run_campaign(StoreProgram(ends(Share::only)), {.schedules = 1'000});
  EXPECT_EQ(describe_findings(result), "");
}

TEST(EndWorlds, HoldWithCachesThatGrowAndRestart) {
  ScenarioChoices choices = ends(Share::only);
  choices.caches = Share::some;
  choices.growth = Share::some;
  choices.memory_growth = Share::some;
  choices.warm_restarts = Share::some;
  choices.scans = Share::some;
  const auto result = explorer::run_campaign(StoreProgram(choices), {.schedules = 500});
  EXPECT_EQ(describe_findings(result), "");
}

TEST(EndWorlds, AreDrawnAsChosen) { expect_drawn_as_chosen(ends(Share::some), has_ends); }

TEST(EndWorlds, SurviveJsonAndAreDocumented) {
  const Scenario scenario = draw_scenario(ends(Share::only), 1);
  ASSERT_TRUE(has_ends(scenario));
  const auto parsed = parse_scenario(scenario.to_json());
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  EXPECT_EQ(parsed->clients, scenario.clients);
  EXPECT_THAT(scenario.describe(), testing::HasSubstr("wait_for_end"));
  EXPECT_THAT(replay_file_document(), testing::HasSubstr("`wait_for_end` waits"));
}

}  // namespace
}  // namespace falafel::store_scenario
