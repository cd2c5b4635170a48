// The estimate of how much of a tree of executions is explored.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "explorer/exhaustive/plain_search.h"
#include "explorer/exhaustive/source_dpor.h"
#include "tests/explorer/exhaustive/toy_program.h"
#include "tests/thoroughness.h"

namespace falafel::explorer {
namespace {

constexpr std::uint64_t most_uneven_programs = 500;

// Before each execution of a program that asks one question after the other.
std::vector<double> shares_of_questions(const std::vector<Question>& questions) {
  PlainSearch search(PlainSearch::Depth::sufficient_answers);
  std::vector<double> shares;
  do {
    shares.push_back(search.explored_share());
    for (const Question& question : questions) search.choose(question.bound, question.sufficient);
    search.end_execution(false);
  } while (search.find_next_execution());
  return shares;
}

// Before each execution.
std::vector<double> shares_of_program(const ToyProgram& program) {
  SourceDpor search;
  std::vector<double> shares;
  do {
    shares.push_back(search.explored_share());
    execute(program, search);
    search.end_execution(false);
  } while (search.find_next_execution());
  return shares;
}

TEST(ExploredShare, IsExactIfAllPartsOfTheTreeAreEqual) {
  const std::vector<double> shares = shares_of_questions({{.bound = 3}, {.bound = 2}});
  ASSERT_EQ(shares.size(), 6U);
  for (std::size_t index = 0; index < 6; ++index) {
    EXPECT_DOUBLE_EQ(shares[index], static_cast<double>(index) / 6);
  }
}

TEST(ExploredShare, CountsTheAnswersThatSuffice) {
  EXPECT_EQ(shares_of_questions({{.bound = 5, .sufficient = 0b10010}}),
            std::vector<double>({0, 0.5}));
  EXPECT_EQ(shares_of_questions({{.bound = 3, .sufficient = 0b1001}}), std::vector<double>({0}));
}

// Both orders of two steps that depend on each other.
TEST(ExploredShare, CountsTheProcessesThatAreToBeTried) {
  const ToyOperation store{.action = ToyAction::store, .argument = 1};
  EXPECT_EQ(shares_of_program({.threads = {{store}, {store}}}), std::vector<double>({0, 0.5}));
  EXPECT_EQ(shares_of_program({.threads = {{store}}}), std::vector<double>({0}));
}

// Trees of programs are uneven, so single estimates are off. Half of the executions are about half
// of the tree on average.
TEST(ExploredShare, IsAboutRightOnAverage) {
  double sum = 0;
  std::uint64_t counted = 0;
  for (std::uint64_t seed = 0; seed < tests::usual_share(most_uneven_programs); ++seed) {
    const std::vector<double> shares = shares_of_program(draw_toy_program(seed));
    for (const double share : shares) ASSERT_TRUE(share >= 0 && share < 1) << "program " << seed;
    if (shares.size() < 20) continue;
    sum += shares[shares.size() / 2];
    ++counted;
  }
  ASSERT_GT(counted, 10U);
  EXPECT_NEAR(sum / static_cast<double>(counted), 0.5, 0.1);
}

}  // namespace
}  // namespace falafel::explorer
