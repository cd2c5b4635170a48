// Predictions of C-Hint's paper: what the profile was made from comes out again, and hit ratios
// are in the paper's order.
#include "tools/benchmarks/figures/c_hint_figures.h"

#include <gtest/gtest.h>

namespace falafel::figures {
namespace {

double value_of(const std::vector<PaperComparison>& all, std::string_view quantity) {
  for (const PaperComparison& comparison : all) {
    if (comparison.quantity == quantity) return comparison.predicted;
  }
  ADD_FAILURE() << "no value is called " << quantity;
  return 0;
}

TEST(CHintFigures, RatiosAreInThePapersOrderAndReadsTakeTheTimeOfTheProfile) {
  const std::vector<PaperComparison> all =
      compare_with_c_hint(sim::timing::find_profile("connectx3-fdr").value());
  EXPECT_EQ(all.size(), 12U);
  EXPECT_GT(value_of(all, "no SETs, 1 GB, hits, C-Hint, times LRU"), 1.05);
  EXPECT_GT(value_of(all, "no SETs, 1 GB, hits, C-Hint, times Approx-LRU"), 1.05);
  EXPECT_LT(value_of(all, "5 % SETs, 1 GB, hits of Original, %, at most"), 2);
  EXPECT_NEAR(value_of(all, "5 % SETs, hits by READ, %"), 47.4, 0.25 * 47.4);
  EXPECT_GT(value_of(all, "the same, times those of a term of 8 s"),
            value_of(all, "the same, times those of a term of 128 s"));
  EXPECT_NEAR(value_of(all, "GET by READ, 1 KB, us"), 4.3, 0.3);
}

}  // namespace
}  // namespace falafel::figures
