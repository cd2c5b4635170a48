// Scenarios in which the table grows: how they are drawn, that they hold, and that each safeguard
// that only they need is found missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/layout/entry.h"
#include "engine/probes.h"
#include "explorer/campaign.h"
#include "tests/explorer/describe_findings.h"
#include "tests/scenarios/store/drawn_worlds.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/scenario.h"
#include "tools/scenarios/store/tag_world.h"

namespace falafel::store_scenario {
namespace {

namespace probes = engine::probes;

ScenarioChoices growth(Share share) {
  ScenarioChoices choices;
  choices.growth = share;
  return choices;
}

TEST(Growth, IsLinearizable) {
  const auto result =
      explorer::run_campaign(StoreProgram(growth(Share::only)), {.schedules = 1'000});
  EXPECT_EQ(describe_findings(result), "");
  for (const fabric::Probe& probe :
       {probes::table_growth_began, probes::entry_moved_to_table, probes::met_frozen_slot,
        probes::insertion_in_later_table, probes::walk_went_on_behind_table,
        probes::change_in_walk_over_tables}) {
    EXPECT_GT(explorer::count_of(result.probes, probe.name), 0U) << probe.name;
  }
}

TEST(Growth, GoesOnAfterWarmRestarts) {
  ScenarioChoices choices = growth(Share::only);
  choices.warm_restarts = Share::only;
  const auto result = explorer::run_campaign(StoreProgram(choices), {.schedules = 500});
  EXPECT_EQ(describe_findings(result), "");
  EXPECT_GT(explorer::count_of(result.probes, probes::recovery_met_growth.name), 0U);
}

// In this schedule, a client that had memory for overwriting only found that its key had vanished.
// It answered that the table was full, which could still grow.
TEST(Growth, IsNoReasonToCallTheTableFull) {
  const auto result = explorer::run_campaign(StoreProgram(growth(Share::only)),
                                             {.first_seed = 615'258, .schedules = 1});
  EXPECT_EQ(describe_findings(result), "");
}

TEST(Growth, LosesKeysIfEmptySlotsAreNotFrozen) {
  const auto program = StoreProgram().without("freeze-empty-slots");
  const auto result =
      explorer::run_campaign(*program, {.schedules = 2'000, .stops_at_violation = true});
  EXPECT_FALSE(result.findings.empty());
}

TEST(Growth, LosesChangesIfEntriesAreNotLocked) {
  const auto program = StoreProgram().without("lock-before-move");
  const auto result =
      explorer::run_campaign(*program, {.schedules = 2'000, .stops_at_violation = true});
  EXPECT_FALSE(result.findings.empty());
}

TEST(Growth, IsDrawnAsChosen) {
  expect_drawn_as_chosen(growth(Share::some),
                         [](const Scenario& scenario) { return scenario.geometry.can_grow(); });
}

TEST(Growth, HoldsBesideAHostileClient) {
  ScenarioChoices choices = growth(Share::only);
  choices.hostile = Share::only;
  for (std::uint64_t seed = 1; seed <= drawn_seeds; ++seed) {
    const Scenario scenario = draw_scenario(choices, seed);
    const bool is_tag_world = scenario.geometry.tag_bits != engine::most_tag_bits;
    EXPECT_EQ(scenario.geometry.can_grow(), !is_tag_world) << seed;
    EXPECT_EQ(scenario.attacks.empty(), is_tag_world) << seed;
  }
  const auto result = explorer::run_campaign(StoreProgram(choices), {.schedules = 300});
  EXPECT_EQ(describe_findings(result), "");
  EXPECT_GT(explorer::count_of(result.probes, probes::entry_moved_to_table.name), 0U);
  EXPECT_GT(explorer::count_of(result.probes, probes::entry_repaired.name), 0U);
}

TEST(Growth, HoldsWhileTagsWrapAround) {
  ScenarioChoices choices = growth(Share::only);
  choices.tag_worlds = Share::only;
  choices.memory_growth = Share::some;
  for (std::uint64_t seed = 1; seed <= drawn_seeds; ++seed) {
    const Scenario scenario = draw_scenario(choices, seed);
    EXPECT_TRUE(scenario.geometry.can_grow()) << seed;
    EXPECT_LT(scenario.geometry.tag_bits, engine::most_tag_bits) << seed;
    EXPECT_TRUE(do_tags_outlast_operations(scenario)) << scenario.describe();
  }
  const auto result = explorer::run_campaign(StoreProgram(choices), {.schedules = 80});
  EXPECT_EQ(describe_findings(result), "");
  EXPECT_GT(explorer::count_of(result.probes, probes::entry_moved_to_table.name), 0U);
  EXPECT_GT(explorer::count_of(result.probes, probes::memory_grew.name), 0U);
}

TEST(Growth, SurvivesJsonAndIsDocumented) {
  const std::string document = replay_file_document();
  EXPECT_THAT(document, testing::HasSubstr("\n| `geometry.most_tables` |"));
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Scenario scenario = draw_scenario(growth(Share::only), seed);
    const auto parsed = parse_scenario(scenario.to_json());
    ASSERT_TRUE(parsed.has_value()) << parsed.error();
    EXPECT_EQ(parsed->geometry, scenario.geometry);
  }
}

}  // namespace
}  // namespace falafel::store_scenario
