// Histories of a string to which values are appended.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/checkers/verdicts.h"

namespace falafel::checkers_test {
namespace {

checkers::Verdict judged_as_log(Operations history) {
  return judge(checkers::Model::append_log, std::move(history));
}

TEST(AppendLog, IsEmptyAtFirst) {
  EXPECT_EQ(judged_as_log({found(1, {1, 2}, "")}), holds);
  EXPECT_EQ(judged_as_log({found(1, {1, 2}, "a")}), violated);
}

TEST(AppendLog, GrowsInTheOrderOfTime) {
  const Operation first = appended(1, {1, 2}, "ab");
  const Operation second = appended(2, {3, 4}, "c");
  EXPECT_EQ(judged_as_log({first, second, found(3, {5, 6}, "abc")}), holds);
  EXPECT_EQ(judged_as_log({first, second, found(3, {5, 6}, "cab")}), violated);
  EXPECT_EQ(judged_as_log({first, second, found(3, {5, 6}, "ab")}), violated);
  EXPECT_EQ(judged_as_log({first, second, found(3, {5, 6}, "abcc")}), violated);
}

TEST(AppendLog, ConcurrentAppendsComeInAnyOrder) {
  const Operation first = appended(1, {1, 4}, "a");
  const Operation second = appended(2, {1, 4}, "b");
  EXPECT_EQ(judged_as_log({first, second, found(3, {5, 6}, "ab")}), holds);
  EXPECT_EQ(judged_as_log({first, second, found(3, {5, 6}, "ba")}), holds);
  EXPECT_EQ(judged_as_log({first, second, found(3, {5, 6}, "ab"), found(3, {7, 8}, "ba")}),
            violated);
  EXPECT_EQ(judged_as_log({first, second, found(3, {2, 3}, "b"), found(3, {5, 6}, "ba")}), holds);
  EXPECT_EQ(judged_as_log({first, second, found(3, {2, 3}, "b"), found(3, {5, 6}, "ab")}),
            violated);
}

TEST(AppendLog, SetReplacesEverything) {
  const Operation append = appended(1, {1, 2}, "a");
  const Operation set = stored(2, {3, 4}, "new");
  EXPECT_EQ(judged_as_log({append, set, found(3, {5, 6}, "new")}), holds);
  EXPECT_EQ(judged_as_log({append, set, found(3, {5, 6}, "anew")}), violated);
  EXPECT_EQ(judged_as_log({append, set, appended(1, {5, 6}, "b"), found(3, {7, 8}, "newb")}),
            holds);
  EXPECT_EQ(judged_as_log({append, stored(2, {3, 4}, ""), found(3, {5, 6}, "")}), holds);
}

TEST(AppendLog, WhatIsOverwrittenMayBeFoundBefore) {
  // The get that returns first has to find the set's string; the other get, the value before the
  // set.
  const Operation append = appended(1, {1, 10}, "a");
  const Operation other = appended(2, {1, 10}, "b");
  const Operation set = stored(3, {1, 10}, "x");
  const Operation first = found(4, {2, 11}, "x");
  EXPECT_EQ(judged_as_log({append, other, set, first, found(5, {3, 12}, "ba")}), holds);
  EXPECT_EQ(judged_as_log({append, other, set, first, found(5, {3, 12}, "bb")}), violated);
  EXPECT_EQ(judged_as_log({append, other, set, first, found(5, {11, 12}, "ba")}), violated);
}

TEST(AppendLog, ConcurrentSetDoesNotMisleadLookahead) {
  // The last get contradicts the first append unless the set is ordered between them.
  EXPECT_EQ(judged_as_log({stored(2, {1, 20}, "x"), appended(1, {2, 3}, "a"),
                           appended(1, {4, 5}, "b"), found(3, {21, 22}, "xb")}),
            holds);
  EXPECT_EQ(judged_as_log({lost(stored(2, {1, 0}, "x")), appended(1, {2, 3}, "a"),
                           appended(1, {4, 5}, "b"), found(3, {21, 22}, "xb")}),
            holds);
  EXPECT_EQ(judged_as_log({stored(2, {1, 20}, "x"), appended(1, {2, 3}, "a"),
                           appended(1, {4, 5}, "b"), found(3, {21, 22}, "xa")}),
            violated);
}

TEST(AppendLog, EqualStringsOfDifferentPiecesAreEqual) {
  const Operation together = appended(1, {1, 8}, "ab");
  EXPECT_EQ(judged_as_log({together, appended(2, {1, 8}, "a"), appended(3, {1, 8}, "b"),
                           found(4, {9, 10}, "abab")}),
            holds);
  EXPECT_EQ(judged_as_log({together, appended(2, {1, 8}, "a"), appended(3, {1, 8}, "b"),
                           found(4, {9, 10}, "bbaa")}),
            violated);
}

TEST(AppendLog, EmptyPiecesChangeNothing) {
  EXPECT_EQ(judged_as_log({appended(1, {1, 2}, ""), appended(1, {3, 4}, "a"),
                           appended(2, {3, 9}, ""), found(2, {5, 6}, "a")}),
            holds);
}

TEST(AppendLog, IndeterminateAppendHappensAtMostOnce) {
  const Operation append = lost(appended(1, {1, 0}, "a"));
  EXPECT_EQ(judged_as_log({append, found(2, {2, 3}, ""), found(2, {4, 5}, "a")}), holds);
  EXPECT_EQ(judged_as_log({append, appended(2, {2, 3}, "b"), found(2, {4, 5}, "ba")}), holds);
  EXPECT_EQ(judged_as_log({append, found(2, {2, 3}, "aa")}), violated);
  EXPECT_EQ(judged_as_log({append, found(2, {2, 3}, "a"), found(2, {4, 5}, "")}), violated);
}

TEST(AppendLog, LostAppendIsViolation) {
  EXPECT_EQ(
      judged_as_log({appended(1, {1, 4}, "a"), appended(2, {2, 3}, "b"), found(3, {5, 6}, "a")}),
      violated);
}

TEST(AppendLog, OrderOfManyConcurrentAppendsIsFoundInTheGet) {
  // Only one of the 16! orders of 16 concurrent appends is correct.
  Operations history;
  std::string value;
  for (std::uint32_t client = 0; client < 16; ++client) {
    const std::string piece = std::to_string((7 * client) % 16) + ";";
    value += piece;
    history.push_back(appended((7 * client) % 16, {1, 100 + 50 - client}, piece));
  }
  history.push_back(found(1, {200, 201}, value));
  EXPECT_EQ(judged_as_log(history), holds);
  history.push_back(found(1, {202, 203}, value + "1;"));
  EXPECT_EQ(judged_as_log(history), violated);
}

TEST(AppendLogDeath, IsNeverAbsent) {
  EXPECT_DEATH(judged_as_log({not_found(1, {1, 2})}), "a log always exists");
  EXPECT_DEATH(judged_as_log({deleted(1, {1, 2})}), "model does not support");
}

}  // namespace
}  // namespace falafel::checkers_test
