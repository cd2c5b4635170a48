// Predictions of Pilaf's paper: what the profile was made from comes out again, and the rest has
// the shape that the paper reports.
#include "tools/benchmarks/figures/pilaf_figures.h"

#include <gtest/gtest.h>

namespace falafel::figures {
namespace {

double predicted(const std::vector<PaperComparison>& all, std::string_view quantity) {
  for (const PaperComparison& comparison : all) {
    if (comparison.quantity == quantity) return comparison.predicted;
  }
  ADD_FAILURE() << "no value is called " << quantity;
  return 0;
}

const std::vector<PaperComparison>& predictions() {
  static const std::vector<PaperComparison> all =
      compare_with_pilaf(sim::timing::find_profile("connectx2-ddr").value());
  return all;
}

TEST(PilafFigures, MessagesLimitPutsAndReadsLimitGets) {
  const std::vector<PaperComparison>& all = predictions();
  EXPECT_EQ(all.size(), 14U);
  EXPECT_NEAR(predicted(all, "PUT, 16 bytes, Mops/s"), 0.668, 0.01);
  EXPECT_NEAR(predicted(all, "GET of Pilaf-VO, 16 bytes, Mops/s"), 0.668, 0.01);
  EXPECT_NEAR(predicted(all, "probes per lookup, table 75 % full"), 1.6, 0.1);
  EXPECT_LT(predicted(all, "GET, 16 bytes, Mops/s"), 2.449 / 2);
  EXPECT_GT(predicted(all, "GET, 16 bytes, Mops/s"), 1);
  EXPECT_GT(predicted(all, "90 % GETs, 64 bytes, Mops/s"),
            predicted(all, "90 % GETs, 64 bytes, Pilaf-VO, Mops/s"));
}

// The surprise of section 5.4: the card serves READs and messages at the same time.
TEST(PilafFigures, HalfPutsAreFasterThanFew) {
  const std::vector<PaperComparison>& all = predictions();
  EXPECT_GT(predicted(all, "50 % GETs, 256 bytes, Mops/s"),
            1.05 * predicted(all, "90 % GETs, 256 bytes, Mops/s"));
}

// One pipeline for READs and messages has no capacity left for the second half.
TEST(PilafFigures, HalfPutsAreSlowerThanFewOnOnePipeline) {
  sim::timing::Profile one_pipeline = sim::timing::find_profile("connectx2-ddr").value();
  one_pipeline.has_message_pipelines = false;
  const std::vector<PaperComparison> all = compare_with_pilaf(one_pipeline);
  EXPECT_LT(predicted(all, "50 % GETs, 256 bytes, Mops/s"),
            predicted(all, "90 % GETs, 256 bytes, Mops/s"));
}

TEST(PilafFigures, TheTableHasTheDeviation) {
  EXPECT_NE(to_table({{"7", "GET", 2, 1.5}}).find("| 7 | GET | 2.00 | 1.50 | -25 % |"),
            std::string::npos);
}

}  // namespace
}  // namespace falafel::figures
