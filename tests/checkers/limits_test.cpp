// A checker that reaches a limit before it can decide reports which limit it was.
#include <gtest/gtest.h>

#include <string>

#include "checkers/linearizability.h"
#include "tests/checkers/verdicts.h"

namespace falafel::checkers_test {
namespace {

using namespace checkers;

// Each value was set twice and found once; the last get finds a value that was never set.
Operations hard_history(const std::string& key, std::uint32_t clients) {
  Operations history;
  for (std::uint32_t client = 0; client < clients; ++client) {
    const std::string value = std::to_string(client);
    history.push_back(on(key, stored(client, {1, 1'000}, value)));
    history.push_back(on(key, stored(client, {1, 1'000}, value)));
    history.push_back(on(key, found(client, {1, 1'000}, value)));
  }
  history.push_back(on(key, found(0, {1, 1'001}, "never set")));
  return history;
}

TEST(Limits, OfStepsAreNamed) {
  const Judgement judgement =
      check_linearizability(hard_history("hard", 20), Model::key_value_register, {.steps = 10'000});
  EXPECT_EQ(judgement.verdict, Verdict::unknown);
  EXPECT_EQ(judgement.explanation,
            "key \"hard\": the search for a correct order of its 61 operations ended without a "
            "result at the limit of 10000 steps (1 of 1 keys are undecided)");
}

TEST(Limits, OfMemoryAreNamed) {
  const Judgement judgement =
      check_linearizability(hard_history("hard", 20), Model::key_value_register,
                            {.steps = 1'000'000'000, .memory_bytes = 1'000'000});
  EXPECT_EQ(judgement.verdict, Verdict::unknown);
  EXPECT_NE(judgement.explanation.find("at the limit of 1000000 bytes of memory"),
            std::string::npos)
      << judgement.explanation;
}

TEST(Limits, AreLargeEnoughHere) {
  EXPECT_EQ(check_linearizability(hard_history("hard", 4), Model::key_value_register).verdict,
            Verdict::violated);
}

TEST(Limits, OfOneKeyDoNotHideTheViolationOfAnother) {
  Operations history = hard_history("hard", 20);
  history.push_back(on("easy", found(1, {1, 2}, "never written")));
  LinearizabilityChecker checker(Model::key_value_register, {.steps = 10'000});
  const LinearizabilityReport report = checker.report(history);
  EXPECT_EQ(report.judgement.verdict, Verdict::violated);
  EXPECT_EQ(report.key, "easy");
}

TEST(Limits, StepsThatEasyKeysLeaveAreForTheHardOne) {
  const Operations hard = hard_history("hard", 4);
  const std::uint64_t needed = LinearizabilityChecker(Model::key_value_register).report(hard).steps;
  Operations history;
  for (int key = 0; key < 9; ++key) {
    history.push_back(on("easy " + std::to_string(key), not_found(1, {1, 2})));
  }
  history.insert(history.end(), hard.begin(), hard.end());
  // One tenth of the steps is too little for the hard key, but the remainder suffices.
  LinearizabilityChecker checker(Model::key_value_register, {.steps = 2 * needed});
  EXPECT_EQ(checker.check(history).verdict, Verdict::violated);
  LinearizabilityChecker stingy(Model::key_value_register, {.steps = needed / 2});
  EXPECT_EQ(stingy.check(history).verdict, Verdict::unknown);
}

TEST(Limits, ManyLostWritesThatNobodyReadsAreNotHard) {
  Operations history;
  for (std::uint32_t client = 1; client <= 500; ++client) {
    history.push_back(lost(stored(client, {client, 0}, "value " + std::to_string(client))));
  }
  history.push_back(stored(0, {600, 601}, "a"));
  history.push_back(found(0, {602, 603}, "b"));
  EXPECT_EQ(check_linearizability(history, Model::key_value_register, {.steps = 100'000}).verdict,
            Verdict::violated);
}

TEST(Limits, ACheckerForgetsHistories) {
  LinearizabilityChecker checker(Model::key_value_register, {.steps = 100'000});
  EXPECT_EQ(checker.check(hard_history("hard", 20)).verdict, Verdict::unknown);
  EXPECT_EQ(checker.check(Operations{found(1, {1, 2}, "a")}).verdict, Verdict::violated);
  EXPECT_EQ(checker.check(Operations{stored(1, {1, 2}, "a"), found(1, {3, 4}, "a")}).verdict,
            Verdict::holds);
}

}  // namespace
}  // namespace falafel::checkers_test
