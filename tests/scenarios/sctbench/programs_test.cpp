// The programs of SCTBench fail, and only where the originals do.
#include "tools/scenarios/sctbench/programs.h"

#include <gtest/gtest.h>

#include <memory>

#include "explorer/scripted_strategy.h"
#include "tools/scenarios/sctbench/search.h"

namespace falafel::sctbench {
namespace {

using sim::StrategyKind;

// With neutral answers, each thread runs as long as it can.
TEST(Subjects, HoldIfThreadsRunOneAfterTheOther) {
  for (const Subject& subject : subjects()) {
    const auto program = make_program(subject, StrategyKind::random);
    explorer::ScriptedStrategy strategy({});
    const explorer::Run run = program->create_runner()->run(*program->draw(1), strategy);
    EXPECT_EQ(run.result.outcome, sim::Outcome::completed) << subject.name;
    EXPECT_EQ(run.property(), "") << subject.name;
  }
}

TEST(Subjects, FailWithEveryStrategy) {
  for (const Subject& subject : {subjects().front(), Subject{"twostage", Family::twostage, 1, 1}}) {
    for (const auto strategy :
         {StrategyKind::random, StrategyKind::pct, StrategyKind::pos, StrategyKind::urw}) {
      const auto program = make_program(subject, strategy);
      EXPECT_TRUE(schedules_to_failure(*program, 1, 2'000)) << subject.name << to_string(strategy);
    }
  }
}

TEST(Subjects, AlwaysHoldWithoutWriters) {
  for (const Family family : {Family::reorder, Family::twostage}) {
    const auto program = make_program({"", family, 0, 3}, StrategyKind::random);
    EXPECT_FALSE(schedules_to_failure(*program, 1, 200));
  }
}

TEST(SchedulesToFailure, IsAFunctionOfTheSeed) {
  const auto program = make_program(subjects().front(), StrategyKind::pos);
  const auto first = schedules_to_failure(*program, 7, 2'000);
  ASSERT_TRUE(first);
  EXPECT_EQ(schedules_to_failure(*program, 7, 2'000), first);
  EXPECT_EQ(schedules_to_failure(*program, 7, *first - 1), std::nullopt);
  EXPECT_EQ(schedules_to_failure(*program, 7 + *first - 1, 1), 1);
}

TEST(Searches, HaveAMedianAndAWorst) {
  Searches searches;
  for (const std::uint64_t schedules : {30U, 10U, 40U, 20U}) searches.add(schedules);
  EXPECT_EQ(searches.median(), 20);
  EXPECT_EQ(searches.worst(), 40);
  EXPECT_EQ(searches.successes(), 4);
}

TEST(Searches, ThatFoundNothingComeLast) {
  Searches searches;
  searches.add(std::nullopt);
  searches.add(5);
  EXPECT_EQ(searches.median(), 5);
  EXPECT_EQ(searches.worst(), std::nullopt);
  searches.add(std::nullopt);
  EXPECT_EQ(searches.median(), std::nullopt);
  EXPECT_EQ(searches.successes(), 1);
}

}  // namespace
}  // namespace falafel::sctbench
