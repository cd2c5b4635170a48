// Scenarios in which clients change values depending on what they are: how they are drawn, that
// they hold, and that compare-and-set decides something there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "engine/probes.h"
#include "explorer/campaign.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "tests/explorer/describe_findings.h"
#include "tests/scenarios/store/drawn_worlds.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/run.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {
namespace {

ScenarioChoices updates(Share share) {
  ScenarioChoices choices;
  choices.updates = share;
  return choices;
}

bool has_updates(const Scenario& scenario) {
  return std::ranges::any_of(scenario.clients, [](const ClientPlan& client) {
    return std::ranges::count(client.operations, OperationKind::update, &PlannedOperation::kind) >
           0;
  });
}

TEST(UpdateWorlds, LoseNoUpdate) {
  const auto result =
      explorer::run_campaign(StoreProgram(updates(Share::only)), {.schedules = 1'000});
  EXPECT_EQ(describe_findings(result), "");
}

TEST(UpdateWorlds, LoseNoUpdateWhileTheTableGrowsAndTheServerRestarts) {
  ScenarioChoices choices = updates(Share::only);
  choices.growth = Share::some;
  choices.warm_restarts = Share::some;
  choices.memory_growth = Share::some;
  const auto result = explorer::run_campaign(StoreProgram(choices), {.schedules = 500});
  EXPECT_EQ(describe_findings(result), "");
}

// How often a compare-and-set answered in one way or the other.
class Outcomes final : public RunListener {
 public:
  void observe(const sim::TraceEvent& /*event*/) override {}
  void on_memory(std::uint64_t /*step*/, const checkers::MemoryView* /*memory*/) override {}
  void on_call(const checkers::Operation& /*operation*/) override {}
  void on_return(const checkers::Operation& operation, engine::Answer answer) override {
    if (operation.kind != checkers::OperationKind::compare_and_swap) return;
    if (answer == engine::Answer::stored) ++stored;
    if (answer == engine::Answer::differs) ++differed;
  }

  std::uint64_t stored = 0;
  std::uint64_t differed = 0;
};

TEST(UpdateWorlds, StoreAndDiffer) {
  Outcomes outcomes;
  Runner runner;
  constexpr std::uint64_t seeds = 200;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    sim::RandomStrategy strategy(seed);
    runner.run(draw_scenario(updates(Share::only), seed), strategy, &outcomes);
  }
  EXPECT_GT(outcomes.stored, 2 * seeds);
  EXPECT_GT(outcomes.differed, seeds / 4);
}

TEST(UpdateWorlds, AreDrawnAsChosen) {
  expect_drawn_as_chosen(updates(Share::some), has_updates);
  ScenarioChoices without_judge = updates(Share::only);
  without_judge.caches = Share::only;
  for (std::uint64_t seed = 1; seed <= drawn_seeds; ++seed) {
    const Scenario cache = draw_scenario(without_judge, seed);
    EXPECT_FALSE(cache.geometry.values_expire && has_updates(cache)) << seed;
  }
}

TEST(UpdateWorlds, SurviveJsonAndAreDocumented) {
  Scenario scenario;
  for (std::uint64_t seed = 1; !has_updates(scenario); ++seed) {
    scenario = draw_scenario(updates(Share::only), seed);
  }
  const auto parsed = parse_scenario(scenario.to_json());
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  EXPECT_EQ(parsed->clients, scenario.clients);
  EXPECT_THAT(scenario.describe(), testing::HasSubstr("update"));
  EXPECT_THAT(replay_file_document(), testing::HasSubstr("`update` gets the key"));
}

}  // namespace
}  // namespace falafel::store_scenario
