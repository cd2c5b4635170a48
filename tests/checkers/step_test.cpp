// The checkers that follow a run step by step: ABA and progress.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "checkers/aba.h"
#include "checkers/progress.h"

namespace falafel::checkers {
namespace {

using engine::Entry;

constexpr Entry a{0x100000000};
constexpr Entry b{0x200000000};

std::string name_party(std::uint32_t party) { return "party " + std::to_string(party); }

TEST(AbaChecker, AcceptsASwapOfWhatWasRead) {
  AbaChecker checker(4, name_party);
  checker.on_read(1, 0, a);
  checker.on_swapped(1, 0, a, b, 10);
  checker.on_swapped(1, 0, b, a, 11);  // it wrote b itself
  EXPECT_EQ(checker.judgement().verdict, Verdict::holds);
}

TEST(AbaChecker, FindsASwapOfAWordThatCameBack) {
  AbaChecker checker(4, name_party);
  checker.on_read(1, 0, a);
  checker.on_read(2, 0, a);
  checker.on_swapped(2, 0, a, b, 10);
  checker.on_swapped(2, 0, b, a, 11);
  checker.on_swapped(1, 0, a, b, 12);
  EXPECT_EQ(checker.judgement().verdict, Verdict::violated);
  EXPECT_EQ(checker.judgement().property, "aba");
}

TEST(AbaChecker, AcceptsAWordThatWasReadAgain) {
  AbaChecker checker(4, name_party);
  checker.on_read(1, 0, a);
  checker.on_read(2, 0, a);
  checker.on_swapped(2, 0, a, b, 10);
  checker.on_swapped(2, 0, b, a, 11);
  checker.on_read(1, 0, a);
  checker.on_swapped(1, 0, a, b, 12);
  EXPECT_EQ(checker.judgement().verdict, Verdict::holds);
}

TEST(AbaChecker, AFailedSwapReadsWhatItFinds) {
  AbaChecker checker(4, name_party);
  checker.on_read(1, 0, a);
  checker.on_read(2, 0, a);
  checker.on_swapped(2, 0, a, b, 10);
  checker.on_read(1, 0, b);  // its compare-and-swap of another word came too late
  checker.on_swapped(2, 0, b, a, 11);
  checker.on_swapped(2, 0, a, b, 12);
  checker.on_swapped(1, 0, b, a, 13);
  EXPECT_EQ(checker.judgement().verdict, Verdict::violated);
  EXPECT_THAT(checker.judgement().explanation, testing::HasSubstr("party 1 swapped"));
}

TEST(AbaChecker, KeepsSlotsApart) {
  AbaChecker checker(4, name_party);
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

}  // namespace
}  // namespace falafel::checkers
