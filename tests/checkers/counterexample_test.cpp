// Tests of explanations of violations: the longest correct order, and the operations that do not
// fit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checkers/linearizability.h"
#include "tests/checkers/mutation.h"
#include "tests/checkers/oracle.h"
#include "tests/checkers/verdicts.h"
#include "tools/benchmarks/random_history/random_history.h"

namespace falafel::checkers_test {
namespace {

using namespace checkers;
using checkers::generators::random_history;
using Positions = std::vector<std::size_t>;

LinearizabilityReport report(const Operations& history, Model model = Model::key_value_register) {
  return LinearizabilityChecker(model).report(history);
}

TEST(Counterexample, ShowsTheLongestPrefixAndWhatDoesNotFit) {
  const Operations history = {on("y", stored(1, {1, 2}, "c")), stored(1, {3, 4}, "a"),
                              found(2, {5, 6}, "a"),           stored(1, {7, 20}, "b"),
                              found(2, {8, 9}, "b"),           found(3, {10, 11}, "a"),
                              found(3, {30, 31}, "b")};
  const LinearizabilityReport result = report(history);
  EXPECT_EQ(result.judgement.verdict, Verdict::violated);
  EXPECT_EQ(result.key, "x");
  EXPECT_EQ(result.longest_prefix, (Positions{1, 2, 3, 4}));
  EXPECT_EQ(result.unfitting, Positions{5});
}

TEST(Counterexample, ListsWhatElseWasUnderWay) {
  const Operations history = {stored(1, {1, 2}, "a"), stored(2, {3, 20}, "b"),
                              lost(stored(3, {4, 0}, "c")), found(4, {5, 6}, "d")};
  const LinearizabilityReport result = report(history);
  EXPECT_EQ(result.longest_prefix, Positions{0});
  EXPECT_EQ(result.unfitting, (Positions{3, 1, 2}));
}

TEST(Counterexample, DoesNotSuspectReadsThatAreRight) {
  const Operations history = {stored(1, {1, 2}, "a"), found(2, {3, 20}, "a"),
                              found(3, {4, 5}, "b")};
  const LinearizabilityReport result = report(history);
  EXPECT_EQ(result.longest_prefix, (Positions{0, 1}));
  EXPECT_EQ(result.unfitting, Positions{2});
}

TEST(Counterexample, ExplainsItselfInWords) {
  const Operations history = {stored(1, {1, 2}, "a"), deleted(1, {3, 4}), found(2, {5, 6}, "a")};
  const std::string text = report(history).judgement.explanation;
  EXPECT_EQ(
      text,
      "key \"x\": no order of its 3 operations is correct. The longest correct prefix has 2 "
      "operations:\n"
      "  1. client 1: set \"x\" to \"a\", stored (call 1, return 2)\n"
      "  2. client 1: delete \"x\", deleted (call 3, return 4)\n"
      "Now the key is absent. The following operation must come next, before it returns at 6, "
      "but its answer is wrong:\n"
      "  client 2: get \"x\", found \"a\" (call 5, return 6)\n");
}

TEST(Counterexample, ShortensLongOrders) {
  Operations history;
  for (std::uint64_t index = 0; index < 100; ++index) {
    history.push_back(stored(1, {2 * index, 2 * index + 1}, std::to_string(index)));
  }
  history.push_back(found(1, {300, 301}, "42"));
  const LinearizabilityReport result = report(history);
  EXPECT_EQ(result.longest_prefix.size(), 100U);
  EXPECT_NE(result.judgement.explanation.find("  ... 80 earlier operations\n  81. "),
            std::string::npos);
}

TEST(Counterexample, OfALogNamesTheGetAndNotWhatLookaheadRuledOut) {
  const Operations history = {appended(1, {1, 2}, "a"),  appended(1, {3, 4}, "b"),
                              found(2, {5, 6}, "ab"),    appended(1, {7, 8}, "c"),
                              appended(1, {9, 10}, "d"), found(2, {11, 12}, "axcd")};
  const LinearizabilityReport result = report(history, Model::append_log);
  EXPECT_EQ(result.longest_prefix, (Positions{0, 1, 2, 3, 4}));
  EXPECT_EQ(result.unfitting, Positions{5});
  EXPECT_NE(result.judgement.explanation.find("Now the key is \"abcd\""), std::string::npos);
}

// Tells if there is a correct order of `last`, of the operations that returned no later, and of any
// other operations on its key that were pending.
bool fits(const Operations& history, const Operation& last, Model model) {
  Operations returned;
  Operations under_way;
  for (const Operation& operation : history) {
    if (operation.answer == Answer::refused || operation.key != last.key) continue;
    if (operation.call_time > last.return_time) continue;
    const bool is_lost = operation.answer == Answer::indeterminate;
    const bool has_returned = !is_lost && operation.return_time <= last.return_time;
    (is_lost || has_returned ? returned : under_way).push_back(operation);
  }
  for (std::uint64_t subset = 0; subset < std::uint64_t{1} << under_way.size(); ++subset) {
    Operations chosen = returned;
    for (std::size_t index = 0; index < under_way.size(); ++index) {
      if ((subset >> index & 1U) != 0) chosen.push_back(under_way[index]);
    }
    if (is_linearizable(chosen, model)) return true;
  }
  return false;
}

class Counterexamples : public testing::TestWithParam<Model> {};

INSTANTIATE_TEST_SUITE_P(Models, Counterexamples,
                         testing::Values(Model::key_value_register, Model::cas_register,
                                         Model::append_log),
                         [](const auto& parameter) { return model_name(parameter.param); });

// The prefix is correct when executed in its order. The first unfitting operation has the earliest
// return up to which no order is correct.
TEST_P(Counterexamples, AreTrue) {
  fabric::RandomGenerator random(1);
  std::size_t violations = 0;
  while (violations < 300) {
    std::vector<Operation> history = random_history({.model = GetParam(),
                                                     .operations = 10,
                                                     .clients = 3,
                                                     .keys = 2,
                                                     .values = 3,
                                                     .lost_permille = 50},
                                                    random);
    mutate(history, GetParam(), random);
    const LinearizabilityReport result = report(history, GetParam());
    if (result.judgement.verdict != Verdict::violated) continue;
    ++violations;
    Operations in_order;
    for (const std::size_t position : result.longest_prefix) {
      in_order.push_back(history[position]);
      in_order.back().call_time = 2 * in_order.size();
      in_order.back().return_time = in_order.back().call_time + 1;
    }
    EXPECT_TRUE(is_linearizable(in_order, GetParam())) << result.judgement.explanation;
    const Operation& unfitting = history[result.unfitting.front()];
    EXPECT_FALSE(fits(history, unfitting, GetParam())) << result.judgement.explanation;
    for (const Operation& earlier : history) {
      const bool returns_earlier =
          earlier.key == unfitting.key && earlier.answer != Answer::indeterminate &&
          earlier.answer != Answer::refused && earlier.return_time < unfitting.return_time;
      if (!returns_earlier) continue;
      EXPECT_TRUE(fits(history, earlier, GetParam())) << result.judgement.explanation;
    }
  }
}

}  // namespace
}  // namespace falafel::checkers_test
