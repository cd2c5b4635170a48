// Scenarios in which a hostile client plays tricks with questions and regions: how they are drawn,
// that they hold, and that the server sees through them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "engine/probes.h"
#include "explorer/campaign.h"
#include "tests/explorer/describe_findings.h"
#include "tests/scenarios/store/drawn_worlds.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {
namespace {

ScenarioChoices tricks(Share share) {
  ScenarioChoices choices;
  choices.tricks = share;
  return choices;
}

bool has_tricks(const Scenario& scenario) {
  return std::ranges::any_of(scenario.attacks, [](const PlannedAttack& attack) {
    return attack.kind >= AttackKind::evasion;
  });
}

std::uint64_t count_with(const ScenarioChoices& choices, const fabric::Probe& probe) {
  const auto result = explorer::run_campaign(StoreProgram(choices), {.schedules = 1'000});
  EXPECT_EQ(describe_findings(result), "");
  return explorer::count_of(result.probes, probe.name);
}

// The server expels who releases the region of another client.
TEST(TrickWorlds, Hold) {
  EXPECT_GT(count_with(tricks(Share::only), engine::probes::client_expelled), 100U);
}

TEST(TrickWorlds, HoldWithCachesThatGrowAndRestart) {
  ScenarioChoices choices = tricks(Share::only);
  choices.caches = Share::some;
  choices.growth = Share::some;
  choices.memory_growth = Share::some;
  choices.warm_restarts = Share::some;
  EXPECT_GT(count_with(choices, engine::probes::client_expelled), 50U);
}

TEST(TrickWorlds, AreDrawnAsChosen) {
  expect_drawn_as_chosen(tricks(Share::some), has_tricks);
  ScenarioChoices ablated = tricks(Share::only);
  ablated.safeguards.exclusion = false;
  for (std::uint64_t seed = 1; seed <= drawn_seeds; ++seed) {
    EXPECT_FALSE(has_tricks(draw_scenario(ablated, seed))) << seed;
  }
}

TEST(TrickWorlds, SurviveJsonAndAreDocumented) {
  Scenario scenario;
  for (const AttackKind kind :
       {AttackKind::evasion, AttackKind::stolen_release, AttackKind::late_write,
        AttackKind::broken_chain, AttackKind::shared_container, AttackKind::all_credits}) {
    scenario.attacks.push_back({.kind = kind, .number = 7});
    EXPECT_THAT(scenario.describe(), testing::HasSubstr(std::string(to_string(kind))));
    EXPECT_THAT(replay_file_document(), testing::HasSubstr(std::string(to_string(kind))));
  }
  const auto parsed = parse_scenario(scenario.to_json());
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  EXPECT_EQ(parsed->attacks, scenario.attacks);
}

}  // namespace
}  // namespace falafel::store_scenario
