// Tests of the checkers that follow a run step by step: ABA, and progress of the store and of
// single operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "checkers/aba.h"
#include "checkers/operation_progress.h"
#include "checkers/progress.h"

namespace falafel::checkers {
namespace {

constexpr std::uint64_t a = 0x100000000;
constexpr std::uint64_t b = 0x200000000;

std::string name_party(std::uint32_t party) { return "party " + std::to_string(party); }
std::string name_word(std::uint64_t word) { return "word " + std::to_string(word); }

TEST(AbaChecker, AcceptsASwapOfWhatWasRead) {
  AbaChecker checker(name_party, name_word);
  checker.on_read(1, 0, a);
  checker.on_swapped(1, 0, a, b, 10);
  checker.on_swapped(1, 0, b, a, 11);  // the party wrote b itself
  EXPECT_EQ(checker.judgement().verdict, Verdict::holds);
}

TEST(AbaChecker, FindsASwapOfAWordThatCameBack) {
  AbaChecker checker(name_party, name_word);
  checker.on_read(1, 0, a);
  checker.on_read(2, 0, a);
  checker.on_swapped(2, 0, a, b, 10);
  checker.on_swapped(2, 0, b, a, 11);
  checker.on_swapped(1, 0, a, b, 12);
  EXPECT_EQ(checker.judgement().verdict, Verdict::violated);
  EXPECT_EQ(checker.judgement().property, "aba");
}

TEST(AbaChecker, AcceptsAWordThatWasReadAgain) {
  AbaChecker checker(name_party, name_word);
  checker.on_read(1, 0, a);
  checker.on_read(2, 0, a);
  checker.on_swapped(2, 0, a, b, 10);
  checker.on_swapped(2, 0, b, a, 11);
  checker.on_read(1, 0, a);
  checker.on_swapped(1, 0, a, b, 12);
  EXPECT_EQ(checker.judgement().verdict, Verdict::holds);
}

TEST(AbaChecker, AFailedSwapReadsWhatItFinds) {
  AbaChecker checker(name_party, name_word);
  checker.on_read(1, 0, a);
  checker.on_read(2, 0, a);
  checker.on_swapped(2, 0, a, b, 10);
  checker.on_read(1, 0, b);  // its compare-and-swap lost to another word
  checker.on_swapped(2, 0, b, a, 11);
  checker.on_swapped(2, 0, a, b, 12);
  checker.on_swapped(1, 0, b, a, 13);
  EXPECT_EQ(checker.judgement().verdict, Verdict::violated);
  EXPECT_THAT(checker.judgement().explanation, testing::HasSubstr("party 1 replaced"));
}

TEST(AbaChecker, SeesWhatIsWrittenWithoutComparing) {
  AbaChecker checker(name_party, name_word);
  checker.on_read(1, 0xffff'ffff'ffff'fff8, 7);
  checker.on_written(2, 0xffff'ffff'ffff'fff8, 8);
  checker.on_written(2, 0xffff'ffff'ffff'fff8, 7);
  checker.on_swapped(2, 0xffff'ffff'ffff'fff8, 7, 9, 10);  // it wrote 7 itself
  EXPECT_EQ(checker.judgement().verdict, Verdict::holds);
  checker.on_written(2, 0xffff'ffff'ffff'fff8, 7);
  checker.on_swapped(1, 0xffff'ffff'ffff'fff8, 7, 8, 11);
  EXPECT_EQ(checker.judgement().verdict, Verdict::violated);
  EXPECT_THAT(checker.judgement().explanation,
              testing::HasSubstr("of word 18446744073709551608, which it had read 4 changes"));
}

TEST(AbaChecker, JudgesASwapWhenItCompares) {
  AbaChecker checker(name_party, name_word);
  checker.on_read(1, 0, a);
  checker.on_compared(1, 0, a, 10);
  checker.on_written(2, 0, b);  // comes in between, and is lost
  checker.on_written(1, 0, b);
  EXPECT_EQ(checker.judgement().verdict, Verdict::holds);
  checker.on_written(2, 0, a);
  checker.on_compared(1, 0, a, 11);
  EXPECT_EQ(checker.judgement().verdict, Verdict::violated);
}

TEST(AbaChecker, KeepsSlotsApart) {
  AbaChecker checker(name_party, name_word);
  checker.on_read(1, 0, a);
  checker.on_read(2, 1, a);
  checker.on_swapped(2, 1, a, b, 10);
  checker.on_swapped(2, 1, b, a, 11);
  checker.on_swapped(1, 0, a, b, 12);
  EXPECT_EQ(checker.judgement().verdict, Verdict::holds);
}

TEST(ProgressChecker, CountsVerbsBetweenCompletions) {
  ProgressChecker checker(3);
  for (int round = 0; round < 10; ++round) {
    for (int verb = 0; verb < 3; ++verb) checker.on_verb(1);
    checker.on_completed();
  }
  checker.on_end(0);
  EXPECT_EQ(checker.judgement().verdict, Verdict::holds);
  for (int verb = 0; verb < 3; ++verb) EXPECT_FALSE(checker.on_verb(2));
  EXPECT_TRUE(checker.on_verb(2));
  EXPECT_FALSE(checker.on_verb(2)) << "it is told once";
  EXPECT_EQ(checker.judgement().property, "progress.verbs");
  EXPECT_EQ(checker.judgement().verdict, Verdict::violated);
}

TEST(ProgressChecker, FindsOperationsThatNeverEnd) {
  ProgressChecker checker(3);
  checker.on_end(2);
  EXPECT_EQ(checker.judgement().property, "progress.unfinished");
}

// An attempt may post ten verbs; attempts that find a lock are 100 ns apart.
class OperationProgressTest : public testing::Test {
 protected:
  OperationProgress progress_{{.verbs_of_attempt = 10,
                               .attempts = 1,
                               .shortest_lock_wait_ns = 100,
                               .longest_wait_ns = 5'000}};

  void return_after(const OperationProgress::Call& call, std::uint64_t verbs,
                    std::uint64_t time_ns) {
    progress_.on_return(call, {.client = 2, .key = "a", .call_time = 1}, verbs, time_ns, 7);
  }
  void expect_no_violation() const {
    EXPECT_EQ(progress_.judgement().verdict, Verdict::holds) << progress_.judgement().explanation;
  }
};

TEST_F(OperationProgressTest, AcceptsAnAttemptForEachChange) {
  const auto call = progress_.on_call(0);
  progress_.on_change(false, 10);
  progress_.on_change(false, 20);
  return_after(call, 30, 1'000);
  expect_no_violation();
}

TEST_F(OperationProgressTest, FindsMoreVerbsThanChangesExplain) {
  progress_.on_change(false, 10);
  const auto call = progress_.on_call(20);
  progress_.on_change(false, 30);
  return_after(call, 21, 1'000);
  EXPECT_EQ(progress_.judgement().property, "progress.operation.verbs");
  EXPECT_EQ(progress_.judgement().calls, std::vector<std::uint64_t>{1});
  EXPECT_THAT(progress_.judgement().explanation,
              testing::HasSubstr("the get of \"a\" by client 2 posted 21 verbs"));
}

TEST_F(OperationProgressTest, AcceptsAttemptsAtALock) {
  progress_.on_change(true, 10);
  const auto call = progress_.on_call(100);
  return_after(call, 60, 600);
  expect_no_violation();
  return_after(call, 61, 600);
  EXPECT_EQ(progress_.judgement().property, "progress.operation.verbs");
}

TEST_F(OperationProgressTest, CountsTheTimeOfLocksOnlyWhileThereAreAny) {
  const auto call = progress_.on_call(0);
  progress_.on_change(true, 0);
  progress_.on_change(false, 200);
  return_after(call, 51, 100'000);
  EXPECT_EQ(progress_.judgement().property, "progress.operation.verbs");
}

TEST_F(OperationProgressTest, FindsAnOperationThatWaitsTooLong) {
  progress_.on_waited(1'000'000);
  const auto call = progress_.on_call(0);
  progress_.on_waited(5'000);
  return_after(call, 1, 10'000);
  expect_no_violation();
  progress_.on_waited(1);
  return_after(call, 1, 10'000);
  EXPECT_EQ(progress_.judgement().property, "progress.operation.waiting");
}

}  // namespace
}  // namespace falafel::checkers
