// Scenarios in which clients store several values with one call: how they are drawn, that they
// hold, and that each of the SETs is judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "explorer/campaign.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "tests/explorer/describe_findings.h"
#include "tests/scenarios/store/drawn_worlds.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/run.h"
#include "tools/scenarios/store/scenario.h"
#include "tools/scenarios/store/set_many_calls.h"

namespace falafel::store_scenario {
namespace {

using engine::Answer;

ScenarioChoices set_many(Share share) {
  ScenarioChoices choices;
  choices.set_many = share;
  return choices;
}

bool sets_many(const Scenario& scenario) {
  return std::ranges::any_of(scenario.clients,
                             [](const ClientPlan& client) { return client.sets_many; });
}

TEST(SetManyWorlds, Hold) {
  const auto result =
      explorer::run_campaign(StoreProgram(set_many(Share::only)), {.schedules = 1'000});
  EXPECT_EQ(describe_findings(result), "");
}

TEST(SetManyWorlds, HoldWithCachesThatGrowAndRestart) {
  ScenarioChoices choices = set_many(Share::only);
  choices.caches = Share::some;
  choices.growth = Share::some;
  choices.memory_growth = Share::some;
  choices.warm_restarts = Share::some;
  choices.scans = Share::some;
  const auto result = explorer::run_campaign(StoreProgram(choices), {.schedules = 500});
  EXPECT_EQ(describe_findings(result), "");
}

// The number of SETs of client 0 that overlap with another one of it.
class Overlaps final : public RunListener {
 public:
  void observe(const sim::TraceEvent& /*event*/) override {}
  void on_memory(std::uint64_t /*step*/, const checkers::MemoryView* /*memory*/) override {}
  void on_call(const checkers::Operation& operation) override {
    if (operation.client == 0 && running_++ > 0) ++overlaps;
  }
  void on_return(const checkers::Operation& operation, Answer /*answer*/) override {
    if (operation.client != 0) return;
    --running_;
    ++returned;
  }

  std::uint64_t overlaps = 0;
  std::uint64_t returned = 0;

 private:
  std::uint64_t running_ = 0;
};

TEST(SetManyWorlds, HaveEachSetInTheHistory) {
  Scenario scenario;
  scenario.geometry = {.table_entries = 16, .region_bytes = 512, .region_count = 3};
  ClientPlan plan{.batch = 3, .sets_many = true, .operations = {}};
  for (std::uint32_t key = 0; key < 7; ++key) {
    const OperationKind kind = key == 4 ? OperationKind::get : OperationKind::set;
    plan.operations.push_back({.kind = kind, .key = key, .value_bytes = usual_value_bytes});
  }
  scenario.clients = {plan};
  Runner runner;
  sim::RandomStrategy strategy(1);
  Overlaps overlaps;
  const explorer::Run run = runner.run(scenario, strategy, &overlaps);
  EXPECT_TRUE(run.violations.empty()) << run.violations.front().explanation;
  EXPECT_EQ(overlaps.returned, plan.operations.size());
  // Keys 0, 1 and 2 are one call, 3 is one, and 5 and 6 are one.
  EXPECT_EQ(overlaps.overlaps, 3U);
}

TEST(SetManyCalls, KnowWhichSetsEnded) {
  SetManyCalls calls;
  EXPECT_EQ(calls.begun(), 0U) << "no call runs";
  std::vector<std::uint64_t> ended;
  calls.begin_call([](std::size_t index) { return 10 + index; },
                   [&](std::uint64_t number, Answer, const engine::OperationStatistics&) {
                     ended.push_back(number);
                   });
  EXPECT_EQ(calls.begun(), 10U);
  EXPECT_EQ(calls.begun(), 11U);
  EXPECT_EQ(calls.begun(), 12U);
  calls.ended(engine::Operation::set, Answer::table_full, {}, 11);
  calls.ended(engine::Operation::set, Answer::stored, {}, 0);
  EXPECT_THAT(ended, testing::ElementsAre(11));
  EXPECT_THAT(calls.answers(), testing::ElementsAre(testing::Pair(1, Answer::table_full)));
  EXPECT_THAT(calls.end_call(), testing::ElementsAre(10, 12));
  calls.ended(engine::Operation::set, Answer::stored, {}, 10);
  EXPECT_EQ(ended.size(), 1U);
  EXPECT_EQ(calls.begun(), 0U);
}

class AnswersOfSetMany : public testing::Test {
 protected:
  // Three SETs: 0 is stored, 1 finds the table full, and 2 the connection broken.
  AnswersOfSetMany() {
    calls_.begin_call([](std::size_t index) { return index + 1; },
                      [](std::uint64_t, Answer, const engine::OperationStatistics&) {});
    for (const Answer answer : {Answer::stored, Answer::table_full, Answer::disconnected}) {
      calls_.ended(engine::Operation::set, answer, {}, calls_.begun());
    }
  }

  std::optional<std::size_t> first_wrong(const std::vector<Answer>& returned) const {
    std::vector<engine::SetResult> results;
    for (const Answer answer : returned) results.push_back({.answer = answer, .statistics = {}});
    return calls_.first_wrong_answer(results);
  }

 private:
  SetManyCalls calls_;
};

TEST_F(AnswersOfSetMany, AreRightIfTheyAreThoseOfTheSets) {
  EXPECT_EQ(first_wrong({}), std::nullopt);
  EXPECT_EQ(first_wrong({Answer::stored, Answer::table_full, Answer::disconnected}), std::nullopt);
}

TEST_F(AnswersOfSetMany, AreWrongIfTheyAreOthers) {
  EXPECT_EQ(first_wrong({Answer::table_full, Answer::stored, Answer::disconnected}), 0U);
  EXPECT_EQ(first_wrong({Answer::stored, Answer::stored, Answer::disconnected}), 1U);
  EXPECT_EQ(first_wrong({Answer::stored, Answer::table_full, Answer::unknown_outcome}), 2U);
}

TEST_F(AnswersOfSetMany, AreWrongIfTheSetHasNotEnded) {
  EXPECT_EQ(first_wrong({Answer::stored, Answer::disconnected, Answer::disconnected}), 1U);
  EXPECT_EQ(first_wrong({Answer::stored, Answer::table_full, Answer::disconnected, Answer::stored}),
            std::nullopt)
      << "nothing behind a broken connection is judged";
  EXPECT_EQ(SetManyCalls().first_wrong_answer(std::vector<engine::SetResult>(1)), 0U);
}

TEST(SetManyWorlds, AreDrawnAsChosen) {
  expect_drawn_as_chosen(set_many(Share::some), sets_many);
  for (std::uint64_t seed = 1; seed <= drawn_seeds; ++seed) {
    for (const ClientPlan& client : draw_scenario(set_many(Share::only), seed).clients) {
      EXPECT_TRUE(!client.sets_many || client.fibers == 1) << seed;
    }
  }
}

TEST(SetManyWorlds, SurviveJsonAndAreDocumented) {
  Scenario scenario;
  for (std::uint64_t seed = 1; !sets_many(scenario); ++seed) {
    scenario = draw_scenario(set_many(Share::only), seed);
  }
  const auto parsed = parse_scenario(scenario.to_json());
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  EXPECT_EQ(parsed->clients, scenario.clients);
  EXPECT_THAT(scenario.describe(), testing::HasSubstr("set_many"));
  EXPECT_THAT(replay_file_document(), testing::HasSubstr("clients[].sets_many"));
}

}  // namespace
}  // namespace falafel::store_scenario
