// Histories of a register with compare-and-swap.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "tests/checkers/verdicts.h"

namespace falafel::checkers_test {
namespace {

checkers::Verdict judged_with_swaps(Operations history) {
  return judge(checkers::Model::cas_register, std::move(history));
}

TEST(CasRegister, SwapsOnlyTheExpectedValue) {
  const Operation set = stored(1, {1, 2}, "1");
  EXPECT_EQ(judged_with_swaps({set, swapped(1, {3, 4}, "1", "2"), found(2, {5, 6}, "2")}), holds);
  EXPECT_EQ(judged_with_swaps({set, swapped(1, {3, 4}, "1", "2"), found(2, {5, 6}, "1")}),
            violated);
  EXPECT_EQ(judged_with_swaps({set, swapped(1, {3, 4}, "2", "3")}), violated);
  EXPECT_EQ(judged_with_swaps({set, not_swapped(1, {3, 4}, "2", "3"), found(2, {5, 6}, "1")}),
            holds);
  EXPECT_EQ(judged_with_swaps({set, not_swapped(1, {3, 4}, "1", "2")}), violated);
}

TEST(CasRegister, MayExpectAbsence) {
  EXPECT_EQ(judged_with_swaps({swapped(1, {1, 2}, std::nullopt, "1"), found(2, {3, 4}, "1")}),
            holds);
  EXPECT_EQ(judged_with_swaps({swapped(1, {1, 2}, "", "1")}), violated);
  EXPECT_EQ(judged_with_swaps({stored(1, {1, 2}, "1"), swapped(2, {3, 4}, std::nullopt, "2")}),
            violated);
  EXPECT_EQ(judged_with_swaps({stored(1, {1, 2}, "1"), not_swapped(2, {3, 4}, std::nullopt, "2")}),
            holds);
}

TEST(CasRegister, OnlyOneOfTwoSwapsWins) {
  const Operation set = stored(1, {1, 2}, "1");
  const Operation won = swapped(1, {3, 9}, "1", "2");
  EXPECT_EQ(judged_with_swaps({set, won, not_swapped(2, {4, 8}, "1", "3")}), holds);
  EXPECT_EQ(judged_with_swaps({set, won, swapped(2, {4, 8}, "1", "3")}), violated);
  EXPECT_EQ(judged_with_swaps({set, won, swapped(2, {4, 8}, "2", "3"), found(3, {10, 11}, "3")}),
            holds);
  EXPECT_EQ(judged_with_swaps({set, won, swapped(2, {4, 8}, "2", "3"), found(3, {10, 11}, "2")}),
            violated);
}

TEST(CasRegister, LostIncrementIsViolation) {
  // Two clients increment the value 0 concurrently. Both succeed, but one increment is lost.
  EXPECT_EQ(judged_with_swaps({stored(1, {1, 2}, "0"), found(1, {3, 4}, "0"), found(2, {3, 4}, "0"),
                               swapped(1, {5, 8}, "0", "1"), swapped(2, {6, 7}, "0", "1"),
                               found(3, {9, 10}, "1")}),
            violated);
}

TEST(CasRegister, IndeterminateSwapMayTakeEffectLateOrNever) {
  const Operation set = stored(1, {1, 2}, "1");
  const Operation swap = lost(swapped(1, {3, 0}, "1", "2"));
  EXPECT_EQ(judged_with_swaps({set, swap, found(2, {4, 5}, "1")}), holds);
  EXPECT_EQ(judged_with_swaps({set, swap, found(2, {4, 5}, "1"), found(2, {6, 7}, "2")}), holds);
  EXPECT_EQ(judged_with_swaps({set, swap, found(2, {4, 5}, "2"), found(2, {6, 7}, "1")}), violated);
  // The swap may find its expected value only later; at its call, the value was different.
  EXPECT_EQ(judged_with_swaps({lost(swapped(1, {1, 0}, "2", "3")), stored(2, {2, 3}, "2"),
                               found(2, {4, 5}, "3")}),
            holds);
}

TEST(CasRegister, FailedSwapObservesTheValue) {
  // No get returns "3", but the failed swaps prove that it was present.
  const Operation first = stored(1, {1, 2}, "1");
  const Operation unread = lost(stored(2, {3, 0}, "3"));
  const Operation failed = not_swapped(1, {5, 6}, "1", "2");
  EXPECT_EQ(judged_with_swaps({first, unread, failed}), holds);
  EXPECT_EQ(judged_with_swaps({first, failed}), violated);
  EXPECT_EQ(judged_with_swaps({first, unread, failed, found(1, {7, 8}, "1")}), violated);
}

TEST(CasRegister, DeletesToo) {
  EXPECT_EQ(judged_with_swaps({stored(1, {1, 2}, "1"), deleted(1, {3, 4}),
                               swapped(2, {5, 6}, std::nullopt, "2"), deleted(2, {7, 8})}),
            holds);
  EXPECT_EQ(
      judged_with_swaps({stored(1, {1, 2}, "1"), deleted(1, {3, 4}), swapped(2, {5, 6}, "1", "2")}),
      violated);
}

}  // namespace
}  // namespace falafel::checkers_test
