// Random histories of every shipped specification, judged by the checker and by the oracle.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checkers/specification_linearizability.h"
#include "tests/checkers/random_calls.h"
#include "tests/checkers/specification_oracle.h"

namespace falafel::checkers_test {
namespace {

using checkers::Verdict;

template <typename S>
std::string describe_calls(const std::vector<checkers::Call<S>>& calls) {
  std::string text;
  for (const checkers::Call<S>& call : calls) text += describe(call) + "\n";
  return text;
}

template <typename S>
class SpecificationProperty : public testing::Test {};

using Specifications =
    testing::Types<checkers::specifications::Register, checkers::specifications::CasRegister,
                   checkers::specifications::KeyValueMap, checkers::specifications::AppendLog,
                   checkers::specifications::Counter, checkers::specifications::Stack,
                   checkers::specifications::Queue, checkers::specifications::Set,
                   checkers::specifications::Lock, checkers::specifications::CacheRegister,
                   checkers::specifications::PriorityQueue, checkers::specifications::MultiRegister,
                   checkers::specifications::WriteOnceLog, FundedBank>;
TYPED_TEST_SUITE(SpecificationProperty, Specifications);

template <typename S>
checkers::Judgement judge_correct_object(checkers::SpecificationChecker<S>& checker,
                                         std::size_t most_operations,
                                         const std::vector<std::uint64_t>& lost_permille) {
  const CallOptions options{.operations = *rc::gen::inRange<std::size_t>(1, most_operations),
                            .clients = *rc::gen::inRange(1U, 5U),
                            .lost_permille = *rc::gen::elementOf(lost_permille)};
  RandomGenerator random(*rc::gen::arbitrary<std::uint64_t>());
  const auto calls = CallGenerator<S>(options, random).run();
  checkers::Judgement judgement = checker.check(calls);
  if (judgement.verdict == Verdict::violated) {
    RC_FAIL(describe_calls(calls) + judgement.explanation);
  }
  return judgement;
}

// Longer histories of a queue whose values repeat may be too hard.
template <typename S>
constexpr std::size_t operations_that_can_be_judged =
    std::same_as<S, checkers::specifications::Queue> ? 40 : 150;

TYPED_TEST(SpecificationProperty, AcceptsHistoriesOfACorrectObject) {
  checkers::SpecificationChecker<TypeParam> checker;
  const auto property = [&] {
    const checkers::Judgement judgement =
        judge_correct_object(checker, operations_that_can_be_judged<TypeParam>, {0});
    RC_ASSERT(judgement.verdict == Verdict::holds);
  };
  EXPECT_TRUE(rc::check(property));
}

// Operations without an answer can make a queue's history too hard, but never wrong.
TYPED_TEST(SpecificationProperty, NeverRejectsACorrectObjectWithLostAnswers) {
  checkers::SpecificationChecker<TypeParam> checker({.steps = 20'000});
  std::size_t decided = 0;
  const auto property = [&] {
    const checkers::Judgement judgement = judge_correct_object(checker, 150, {5, 30});
    if (judgement.verdict == Verdict::holds) ++decided;
  };
  EXPECT_TRUE(rc::check(property));
  EXPECT_GT(decided, 50U);  // of 100
}

// Tells if there is a correct order of `last`, of the operations that returned no later, and of any
// others that were pending.
template <typename S>
bool fits(const std::vector<checkers::Call<S>>& calls, const checkers::Call<S>& last) {
  std::vector<checkers::Call<S>> returned;
  std::vector<checkers::Call<S>> pending;
  for (const checkers::Call<S>& call : calls) {
    if (call.is_refused || call.call_time > last.return_time) continue;
    const bool returns_later = call.result && call.return_time > last.return_time;
    (returns_later ? pending : returned).push_back(call);
  }
  for (std::uint64_t subset = 0; subset < std::uint64_t{1} << pending.size(); ++subset) {
    auto chosen = returned;
    for (std::size_t index = 0; index < pending.size(); ++index) {
      if ((subset >> index & 1U) != 0) chosen.push_back(pending[index]);
    }
    if (is_linearizable<S>(chosen)) return true;
  }
  return false;
}

// The longest order is right when it is executed, and no order passes the operation that does not
// fit.
template <typename S>
void expect_true_explanation(const std::vector<checkers::Call<S>>& calls,
                             const checkers::LinearizabilityReport& report) {
  std::vector<checkers::Call<S>> in_order;
  for (const std::size_t position : report.longest_prefix) {
    in_order.push_back(calls[position]);
    in_order.back().call_time = 2 * in_order.size();
    in_order.back().return_time = in_order.back().call_time + 1;
  }
  RC_ASSERT(is_linearizable<S>(in_order));
  const checkers::Call<S>& unfitting = calls[report.unfitting.front()];
  if (fits(calls, unfitting)) RC_FAIL(describe_calls(calls) + report.judgement.explanation);
}

TYPED_TEST(SpecificationProperty, JudgesAsTheOracleDoes) {
  checkers::SpecificationChecker<TypeParam> checker;
  std::size_t violated = 0;
  const auto property = [&] {
    const CallOptions options{.operations = *rc::gen::inRange<std::size_t>(1, 8),
                              .clients = *rc::gen::inRange(1U, 5U),
                              .lost_permille = *rc::gen::element<std::uint64_t>(0, 0, 100, 250)};
    RandomGenerator random(*rc::gen::arbitrary<std::uint64_t>());
    for (int repetition = 0; repetition < 50; ++repetition) {
      auto calls = CallGenerator<TypeParam>(options, random).run();
      const std::uint64_t mutations = random.below(4);
      for (std::uint64_t done = 0; done < mutations; ++done) mutate(calls, random);
      const checkers::LinearizabilityReport report = checker.report(calls);
      const bool is_right = is_linearizable<TypeParam>(calls);
      if (report.judgement.verdict != (is_right ? Verdict::holds : Verdict::violated)) {
        RC_FAIL(describe_calls(calls) + report.judgement.explanation);
      }
      if (is_right) continue;
      ++violated;
      expect_true_explanation(calls, report);
    }
  };
  EXPECT_TRUE(rc::check(property));
  EXPECT_GT(violated, 200U);  // of 5,000: both verdicts occur often enough
}

}  // namespace
}  // namespace falafel::checkers_test
