// A checker that reaches a limit before it can decide reports which limit it was.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "checkers/linearizability.h"
#include "checkers/linearization/memory_watch.h"
#include "checkers/process_memory.h"
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
            "result at the limit of 10000 steps (1 of 1 keys are undecided). Its longest order "
            "passes 60 of 61 returns");
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

// The memory of a process that grows whenever it is asked for.
class GrowingMemory final : public ProcessMemory {
 public:
  explicit GrowingMemory(std::uint64_t growth_bytes) : growth_bytes_(growth_bytes) {}

  std::uint64_t resident_bytes() override { return bytes_ += growth_bytes_; }
  void release_free() override { bytes_ = 0; }

 private:
  std::uint64_t growth_bytes_;
  std::uint64_t bytes_ = 0;
};

TEST(Limits, OfTheProcessEndASearch) {
  GrowingMemory memory(1'000'000);
  const LinearizabilityLimits limits{
      .steps = 1'000'000'000, .memory_bytes = 64'000'000, .process_memory = &memory};
  const Judgement judgement =
      check_linearizability(hard_history("hard", 20), Model::key_value_register, limits);
  EXPECT_EQ(judgement.verdict, Verdict::unknown);
  EXPECT_NE(judgement.explanation.find("at the limit of 64000000 bytes of memory"),
            std::string::npos)
      << judgement.explanation;
}

// The search of the first key frees its memory before that of the second begins.
TEST(Limits, OfTheProcessLeaveOtherKeysTheirMemory) {
  GrowingMemory memory(1'000'000);
  Operations history = hard_history("hard", 20);
  history.push_back(on("easy", found(1, {1, 2}, "never written")));
  LinearizabilityChecker checker(
      Model::key_value_register,
      {.steps = 1'000'000'000, .memory_bytes = 64'000'000, .process_memory = &memory});
  EXPECT_EQ(checker.report(history).key, "easy");
}

// The memory that one step allocates is a part of the limit.
class SteadyMemory final : public ProcessMemory {
 public:
  std::uint64_t resident_bytes() override {
    ++questions;
    return bytes;
  }
  void release_free() override {}

  std::uint64_t bytes = 10'000'000;
  std::uint64_t questions = 0;
};

TEST(Limits, OfTheProcessHoldForSmallAndLargeStates) {
  constexpr std::uint64_t limit_bytes = 100'000'000;
  for (const std::uint64_t step_bytes : {20U, 1'000U, 50'000U, 2'000'000U}) {
    SteadyMemory memory;
    linearization::MemoryWatch watch;
    watch.begin(&memory, limit_bytes);
    std::uint64_t steps = 0;
    for (; !watch.is_reached(); ++steps) memory.bytes += step_bytes;
    EXPECT_LE(memory.bytes, limit_bytes + limit_bytes / 10) << step_bytes;
    EXPECT_GE(memory.bytes, limit_bytes - limit_bytes / 10) << step_bytes;
    EXPECT_LE(memory.questions, 200 + steps / 1'000) << step_bytes;
  }
}

// The memory that grows suddenly after many steps without growth exceeds the limit only once.
TEST(Limits, OfTheProcessHoldIfGrowthBegins) {
  constexpr std::uint64_t limit_bytes = 100'000'000;
  SteadyMemory memory;
  linearization::MemoryWatch watch;
  watch.begin(&memory, limit_bytes);
  for (int step = 0; step < 1'000'000; ++step) EXPECT_FALSE(watch.is_reached());
  while (!watch.is_reached()) memory.bytes += 2'000;
  EXPECT_LE(memory.bytes, limit_bytes + limit_bytes / 10);
}

}  // namespace
}  // namespace falafel::checkers_test
