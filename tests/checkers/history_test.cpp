// Recording histories, and describing operations.
#include "checkers/history.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/checkers/operations.h"

namespace falafel::checkers {
namespace {

using namespace checkers_test;

TEST(History, RecordsCallsAndReturns) {
  History history;
  const std::size_t set = history.call(1, 7, OperationKind::set, "x", "a");
  const std::size_t get = history.call(2, 8, OperationKind::get, "x");
  const std::size_t swap = history.call_compare_and_swap(3, 9, "x", std::nullopt, "b");
  history.call_compare_and_swap(4, 9, "x", "a", "b");
  history.complete(5, get, Answer::found, "a");
  history.complete(6, set, Answer::stored);
  history.complete(7, swap, Answer::not_swapped);
  ASSERT_EQ(history.operations().size(), 4U);
  EXPECT_EQ(history.operations()[0], stored(7, {1, 6}, "a"));
  EXPECT_EQ(history.operations()[1], found(8, {2, 5}, "a"));
  EXPECT_EQ(history.operations()[2], not_swapped(9, {3, 7}, std::nullopt, "b"));
  EXPECT_EQ(history.operations()[3], lost(swapped(9, {4, 0}, "a", "b")));
}

TEST(History, ReusesNothingButMemory) {
  History history;
  const std::size_t swap = history.call_compare_and_swap(1, 1, "x", "a", "b");
  history.complete(2, swap, Answer::swapped);
  history.clear();
  EXPECT_TRUE(history.operations().empty());
  history.call(3, 2, OperationKind::remove, "x");
  ASSERT_EQ(history.operations().size(), 1U);
  EXPECT_EQ(history.operations()[0], lost(deleted(2, {3, 0})));
}

TEST(HistoryDeath, AnswersMustFit) {
  History history;
  const std::size_t set = history.call(1, 1, OperationKind::set, "x", "a");
  EXPECT_DEATH(history.complete(2, set, Answer::found), "cannot be answered with found");
  EXPECT_DEATH(history.complete(2, set + 1, Answer::stored),
               "operation 1 does not exist; the history has 1");
  history.complete(2, set, Answer::stored);
  EXPECT_DEATH(history.complete(3, set, Answer::stored), "completed twice");
}

TEST(Describe, TellsWhatWasDoneAndWhen) {
  EXPECT_EQ(describe(stored(1, {2, 3}, "a")),
            "client 1: set \"x\" to \"a\", stored (call 2, return 3)");
  EXPECT_EQ(describe(not_found(1, {2, 3})), "client 1: get \"x\", not found (call 2, return 3)");
  EXPECT_EQ(describe(lost(deleted(1, {2, 0}))),
            "client 1: delete \"x\", indeterminate (call 2, no return)");
  EXPECT_EQ(describe(swapped(1, {2, 3}, std::nullopt, "a")),
            "client 1: compare-and-swap \"x\" from absent to \"a\", swapped (call 2, return 3)");
  EXPECT_EQ(describe(appended(1, {2, 3}, "a")),
            "client 1: append \"a\" to \"x\", stored (call 2, return 3)");
}

TEST(Describe, QuotesAnyBytes) {
  using namespace std::string_literals;
  EXPECT_EQ(quote("a\"\\\0\x7f\xff z"s), R"("a\"\\\x00\x7f\xff z")");
  EXPECT_EQ(quote(std::string(61, 'a')), '"' + std::string(60, 'a') + "\"... (61 bytes)");
}

}  // namespace
}  // namespace falafel::checkers
