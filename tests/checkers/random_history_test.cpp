// Random histories, judged by the checker and by the oracle.
#include <gtest/gtest.h>
#include <rapidcheck.h>

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
using checkers::generators::HistoryOptions;
using checkers::generators::random_history;

std::string describe_all(const std::vector<Operation>& history) {
  std::string text;
  for (const Operation& operation : history) text += describe(operation) + "\n";
  return text;
}

class RandomHistories : public testing::TestWithParam<Model> {
 protected:
  // Small histories for the oracle, with many concurrent operations.
  HistoryOptions draw_small() const {
    return {.model = GetParam(),
            .operations = *rc::gen::inRange<std::size_t>(1, 9),
            .clients = *rc::gen::inRange(1U, 5U),
            .keys = *rc::gen::inRange<std::uint64_t>(1, 3),
            .values = *rc::gen::element<std::uint64_t>(0, 1, 2, 3),
            .lost_permille = *rc::gen::element<std::uint64_t>(0, 0, 200, 500),
            .get_permille = *rc::gen::element<std::uint64_t>(300, 500, 700)};
  }
};

INSTANTIATE_TEST_SUITE_P(Models, RandomHistories,
                         testing::Values(Model::key_value_register, Model::cas_register,
                                         Model::append_log),
                         [](const auto& parameter) { return model_name(parameter.param); });

// Returns the oracle's verdict; fails if the checker disagrees.
Verdict judge_beside_oracle(const std::vector<Operation>& history, Model model,
                            LinearizabilityChecker& checker) {
  const LinearizabilityReport report = checker.report(history);
  const Verdict expected = is_linearizable(history, model) ? Verdict::holds : Verdict::violated;
  if (report.judgement.verdict != expected) {
    RC_FAIL(describe_all(history) + std::string(to_string(report.judgement.verdict)) + ": " +
            report.judgement.explanation);
  }
  return expected;
}

TEST_P(RandomHistories, OfACorrectStoreHold) {
  LinearizabilityChecker checker(GetParam());
  const auto property = [&] {
    const HistoryOptions options{.model = GetParam(),
                                 .operations = *rc::gen::inRange<std::size_t>(1, 400),
                                 .clients = *rc::gen::inRange(1U, 11U),
                                 .keys = *rc::gen::inRange<std::uint64_t>(1, 11),
                                 .values = *rc::gen::element<std::uint64_t>(0, 2, 10),
                                 .lost_permille = *rc::gen::element<std::uint64_t>(0, 0, 5, 30)};
    fabric::RandomGenerator random(*rc::gen::arbitrary<std::uint64_t>());
    const std::vector<Operation> history = random_history(options, random);
    const Judgement judgement = checker.check(history);
    if (judgement.verdict != Verdict::holds) {
      RC_FAIL(describe_all(history) + judgement.explanation);
    }
  };
  EXPECT_TRUE(rc::check(property));
}

TEST_P(RandomHistories, AreJudgedAsTheOracleDoes) {
  LinearizabilityChecker checker(GetParam());
  std::size_t violated = 0;
  const auto property = [&] {
    const HistoryOptions options = draw_small();
    fabric::RandomGenerator random(*rc::gen::arbitrary<std::uint64_t>());
    for (int repetition = 0; repetition < 100; ++repetition) {
      std::vector<Operation> history = random_history(options, random);
      const std::uint64_t mutations = random.below(4);
      for (std::uint64_t done = 0; done < mutations; ++done) mutate(history, GetParam(), random);
      const Verdict verdict = judge_beside_oracle(history, GetParam(), checker);
      if (verdict == Verdict::violated) ++violated;
    }
  };
  EXPECT_TRUE(rc::check(property));
  EXPECT_GT(violated, 200U);  // of 10,000: both verdicts occur often enough
}

}  // namespace
}  // namespace falafel::checkers_test
