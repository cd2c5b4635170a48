// Scenarios in which the memory grows: how they are drawn, and that they hold.
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

namespace probes = engine::probes;

ScenarioChoices memory_growth(Share share) {
  ScenarioChoices choices;
  choices.memory_growth = share;
  return choices;
}

TEST(MemoryGrowthWorlds, UseOnlyWhatIsCommitted) {
  const auto result =
      explorer::run_campaign(StoreProgram(memory_growth(Share::only)), {.schedules = 1'000});
  EXPECT_EQ(describe_findings(result), "");
  for (const fabric::Probe& probe :
       {probes::memory_grew, probes::memory_released, probes::memory_refused}) {
    EXPECT_GT(explorer::count_of(result.probes, probe.name), 0U) << probe.name;
  }
}

TEST(MemoryGrowthWorlds, GoOnAfterWarmRestartsAndWithTablesThatGrow) {
  ScenarioChoices choices = memory_growth(Share::only);
  choices.warm_restarts = Share::only;
  choices.growth = Share::some;
  const auto result = explorer::run_campaign(StoreProgram(choices), {.schedules = 1'000});
  EXPECT_EQ(describe_findings(result), "");
  EXPECT_GT(explorer::count_of(result.probes, probes::recovery_collected_region.name), 0U);
  EXPECT_GT(explorer::count_of(result.probes, probes::table_growth_began.name), 0U);
}

TEST(MemoryGrowthWorlds, AreDrawnAsChosen) {
  expect_drawn_as_chosen(memory_growth(Share::some),
                         [](const Scenario& scenario) { return scenario.memory_grows; });
  for (std::uint64_t seed = 1; seed <= drawn_seeds; ++seed) {
    const Scenario scenario = draw_scenario(memory_growth(Share::only), seed);
    EXPECT_EQ(scenario.memory_grows, scenario.geometry.tag_bits == engine::most_tag_bits) << seed;
    EXPECT_TRUE(!scenario.memory_grows || scenario.geometry.has_blocks()) << seed;
  }
}

TEST(MemoryGrowthWorlds, SurviveJsonAndAreDocumented) {
  Scenario scenario = draw_scenario(memory_growth(Share::only), 1);
  scenario.least_held_bytes = 4'096;
  const auto parsed = parse_scenario(scenario.to_json());
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  EXPECT_TRUE(parsed->memory_grows);
  EXPECT_EQ(parsed->least_held_bytes, 4'096U);
  EXPECT_THAT(scenario.describe(), testing::HasSubstr("the memory grows"));
  const std::string document = replay_file_document();
  EXPECT_THAT(document, testing::HasSubstr("`memory_grows`"));
  EXPECT_THAT(document, testing::HasSubstr("`least_held_bytes`"));
  nlohmann::json json = scenario.to_json();
  json["geometry"]["mature_space_count"] = engine::semi_space_count;
  EXPECT_FALSE(parse_scenario(json).has_value());
}

}  // namespace
}  // namespace falafel::store_scenario
