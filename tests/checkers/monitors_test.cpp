// Histories of distinct values, judged by the monitors and by the search.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checkers/monitored_linearizability.h"
#include "checkers/specification_linearizability.h"
#include "fabric/random.h"
#include "tests/checkers/random_calls.h"
#include "tests/thoroughness.h"
#include "tools/benchmarks/random_history/random_object_history.h"

namespace falafel::checkers_test {
namespace {

using checkers::Call;
using checkers::LinearizabilityReport;
using checkers::MonitoredChecker;
using checkers::SpecificationChecker;
using checkers::Verdict;
using checkers::generators::ObjectHistoryOptions;
using checkers::generators::random_object_history;
using checkers::specifications::PriorityQueue;
using checkers::specifications::Queue;
using checkers::specifications::Register;
using checkers::specifications::Set;
using checkers::specifications::Stack;

template <typename S>
std::string text_of(const std::vector<Call<S>>& calls) {
  std::string text;
  for (const Call<S>& call : calls) text += describe(call) + "\n";
  return text;
}

// Moves a return, takes an answer away or exchanges two answers.
template <typename S>
void damage(std::vector<Call<S>>& calls, RandomGenerator& random) {
  Call<S>& call = calls[random.below(calls.size())];
  Call<S>& other = calls[random.below(calls.size())];
  switch (random.below(4)) {
    case 0: call.return_time = call.call_time + random.below(12); break;
    case 1: call.result.reset(); break;
    case 2:
      if (call.operation.index() != other.operation.index()) break;
      if (call.result && other.result) std::swap(call.result, other.result);
      break;
    default: mutate(calls, random); break;
  }
}

template <typename S>
class Monitors : public testing::Test {};
using Objects = testing::Types<Queue, Stack, PriorityQueue, Register, Set>;
TYPED_TEST_SUITE(Monitors, Objects);

TYPED_TEST(Monitors, JudgeAsTheSearchDoes) {
  RandomGenerator random(1);
  SpecificationChecker<TypeParam> search;
  MonitoredChecker<TypeParam> monitored;
  std::uint64_t violated = 0;
  const std::uint64_t histories = tests::usual_share(20'000);
  for (std::uint64_t number = 0; number < histories; ++number) {
    auto calls = random_object_history<TypeParam>(
        {.operations = 2 + random.below(9),
         .clients = static_cast<std::uint32_t>(1 + random.below(5)),
         .unanswered_permille = 250 * random.below(3)},
        random);
    for (std::uint64_t times = random.below(6); times > 0; --times) damage(calls, random);
    const LinearizabilityReport expected = search.report(calls);
    const LinearizabilityReport report = monitored.report(calls);
    ASSERT_EQ(report.judgement.verdict, expected.judgement.verdict)
        << text_of(calls) << expected.judgement.explanation << report.judgement.explanation;
    EXPECT_EQ(report.judged, expected.judged) << text_of(calls);
    if (report.judgement.verdict == Verdict::violated) ++violated;
  }
  EXPECT_GT(violated, histories / 20);
  EXPECT_LT(violated, histories - histories / 20);
}

// A tenth of the operations has no answer. The search alone decides no such queue or stack.
TYPED_TEST(Monitors, JudgeLongHistories) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    RandomGenerator random(seed);
    const bool is_wrong = seed % 2 == 0;
    const auto calls = random_object_history<TypeParam>({.operations = 5'000,
                                                         .clients = 32,
                                                         .unanswered_permille = 100,
                                                         .plants_violation = is_wrong},
                                                        random);
    const LinearizabilityReport report = MonitoredChecker<TypeParam>().report(calls);
    EXPECT_EQ(report.judgement.verdict, is_wrong ? Verdict::violated : Verdict::holds)
        << "seed " << seed << ": " << report.judgement.explanation;
    EXPECT_GT(report.judged, 4'000U);
    if (!is_wrong) continue;
    EXPECT_LE(report.unfitting.size() + report.longest_prefix.size(), 8U);
    EXPECT_FALSE(report.unfitting.empty());
  }
}

TEST(MonitoredChecker, ExplainViolationsByTheOperationsThatMatter) {
  RandomGenerator random(1);
  auto calls = random_object_history<Queue>({.operations = 150, .clients = 4}, random);
  const std::uint64_t end = 1'000;
  for (std::uint64_t step = 0; step < 4; ++step) {
    const bool pushes = step < 2;
    Call<Queue> call{.client = 9, .call_time = end + 2 * step, .return_time = end + 2 * step + 1};
    if (pushes) {
      call.operation = Queue::Push{1'000 + step};
      call.result.emplace();
    } else {
      call.operation = Queue::Pop{};
      call.result = Queue::Result(1'000 + (3 - step));
    }
    calls.push_back(call);
  }
  const LinearizabilityReport report = MonitoredChecker<Queue>().report(calls);
  // Nobody took 67, which was pushed before.
  EXPECT_EQ(
      report.judgement.explanation,
      "Of 154 operations, 3 have no correct order by themselves. Of these, the object: no order of "
      "its 3 operations is correct. The longest correct prefix has 2 operations:\n"
      "  1. client 3: push 67 (call 422, return 434)\n"
      "  2. client 9: push 1000 (call 1000, return 1001)\n"
      "Now the state is [67, 1000]. The following operation must come next, before it returns at "
      "1007, but its answer is wrong:\n"
      "  client 9: pop -> 1000 (call 1006, return 1007)\n");
  EXPECT_EQ(report.unfitting, (std::vector<std::size_t>{153}));
}

}  // namespace
}  // namespace falafel::checkers_test
