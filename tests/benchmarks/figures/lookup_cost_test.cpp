// The cost of a search matches Knuth's prediction for linear probing at every load (Behringer 5.3),
// on tables smaller than those of the figure. Repeated measurements return the same figure.
#include "tools/benchmarks/figures/lookup_cost.h"

#include <gtest/gtest.h>

#include <cmath>

namespace falafel::figures {
namespace {

LookupCostFigure measure(const LookupCostOptions& options) {
  return measure_lookup_cost(options, [](std::uint64_t) {});
}

// For tables of this size, the coefficient is at least 0.994 with every seed tried. docs/figures.md
// states the coefficients of the figure itself.
TEST(LookupCost, IsKnuths) {
  const LookupCostFigure figure = measure({.table_entries = 8'192, .key_sets = 8, .samples = 300});
  ASSERT_EQ(figure.successful.size(), 91U);
  ASSERT_EQ(figure.unsuccessful.size(), 73U);
  EXPECT_GT(coefficient_of_determination(figure.successful, &LookupCost::lookups,
                                         predicted_successful_lookups),
            0.99);
  EXPECT_GT(coefficient_of_determination(figure.unsuccessful, &LookupCost::lookups,
                                         predicted_unsuccessful_lookups),
            0.99);
  EXPECT_GT(coefficient_of_determination(figure.successful, &LookupCost::verbs,
                                         predicted_successful_verbs),
            0.99);
  EXPECT_GT(coefficient_of_determination(figure.unsuccessful, &LookupCost::verbs,
                                         predicted_unsuccessful_verbs),
            0.99);
}

TEST(LookupCost, IsOneReadOfTheTableMoreInOperations) {
  const LookupCostFigure figure = measure({.table_entries = 4'096, .key_sets = 2, .samples = 200});
  for (const auto* costs : {&figure.successful, &figure.unsuccessful}) {
    for (const LookupCost& cost : *costs) {
      const double reads_of_table = cost.verbs - cost.lookups;
      EXPECT_GT(reads_of_table, 1 - 1e-9) << cost.load;
      EXPECT_LT(reads_of_table, cost.load < 0.5 ? 1.05 : 1.5) << cost.load;
    }
  }
}

TEST(LookupCost, FollowsFromTheOptions) {
  const LookupCostOptions options{.table_entries = 1'000, .key_sets = 2, .samples = 50};
  LookupCostOptions others = options;
  others.seed = 2;
  const LookupCostFigure first = measure(options);
  const LookupCostFigure again = measure(options);
  const LookupCostFigure other = measure(others);
  bool differs = false;
  for (std::size_t index = 0; index < first.successful.size(); ++index) {
    EXPECT_EQ(first.successful[index].lookups, again.successful[index].lookups);
    EXPECT_EQ(first.successful[index].verbs, again.successful[index].verbs);
    differs = differs || first.successful[index].lookups != other.successful[index].lookups;
  }
  EXPECT_TRUE(differs);
}

TEST(LookupCost, DeterminationIsOneForThePredictionItself) {
  std::vector<LookupCost> costs;
  for (int percent = 1; percent <= 91; ++percent) {
    const double load = percent / 100.0;
    costs.push_back({.load = load, .lookups = predicted_successful_lookups(load), .verbs = 1});
  }
  EXPECT_DOUBLE_EQ(
      coefficient_of_determination(costs, &LookupCost::lookups, predicted_successful_lookups), 1.0);
  for (LookupCost& cost : costs) cost.lookups += 1;
  EXPECT_LT(coefficient_of_determination(costs, &LookupCost::lookups, predicted_successful_lookups),
            0.5);
  EXPECT_NEAR(predicted_successful_lookups(0.91), 6.06, 0.01);
  EXPECT_NEAR(predicted_unsuccessful_lookups(0.73), 6.36, 0.01);
}

}  // namespace
}  // namespace falafel::figures
