// Predictions of Pilaf's paper: what the profile was made from comes out again, and the rest has
// the shape that the paper reports.
#include "tools/benchmarks/figures/pilaf_figures.h"

#include <gtest/gtest.h>

#include "tests/benchmarks/figures/predicted_value.h"

namespace falafel::figures {
namespace {

sim::timing::Profile pilaf_card() { return sim::timing::find_profile("connectx2-ddr").value(); }

// The profile was made from table 1, except that of IPoIB at 4 KiB.
TEST(PilafFigures, TransportsAreThoseOfTableOne) {
  const std::vector<Figure> figures = predict_pilaf_transports(pilaf_card());
  EXPECT_NEAR(predicted_value(figures, "READ, 16 bytes, Mops/s"), 2.449, 0.05 * 2.449);
  EXPECT_NEAR(predicted_value(figures, "READ, 4096 bytes, Mops/s"), 0.472, 0.05 * 0.472);
  EXPECT_NEAR(predicted_value(figures, "messages, 16 bytes, Mops/s"), 0.668, 0.05 * 0.668);
  EXPECT_NEAR(predicted_value(figures, "IPoIB, 16 bytes, Mops/s"), 0.126, 0.05 * 0.126);
  EXPECT_NEAR(predicted_value(figures, "READ, 16 bytes, us"), 3, 0.1);
  EXPECT_NEAR(predicted_value(figures, "messages, 16 bytes, times READ"), 2, 0.1);
  EXPECT_GT(predicted_value(figures, "IPoIB, 16 bytes, us, at least"), 59);
}

TEST(PilafFigures, CuckooHashingNeedsThreeProbesAtMostAndLinearProbingHundreds) {
  const std::vector<Figure> figures = predict_pilaf_probes();
  EXPECT_NEAR(predicted_value(figures, "mean, 75 % full, 3-way cuckoo"), 1.6, 0.1);
  EXPECT_EQ(predicted_value(figures, "most, 75 % full, 3-way cuckoo"), 3);
  EXPECT_NEAR(predicted_value(figures, "mean, 75 % full, linear probing"), 2.5, 0.1);
  EXPECT_GT(predicted_value(figures, "most, 75 % full, linear probing"), 50);
}

TEST(PilafFigures, MessagesLimitPutsAndReadsLimitGets) {
  const std::vector<Figure> figures = predict_pilaf_operations(pilaf_card());
  EXPECT_NEAR(predicted_value(figures, "PUT, 16 bytes, Mops/s"), 0.668, 0.01);
  EXPECT_NEAR(predicted_value(figures, "GET of Pilaf-VO, 16 bytes, Mops/s"), 0.668, 0.01);
  EXPECT_LT(predicted_value(figures, "GET, 16 bytes, Mops/s"), 2.449 / 2);
  EXPECT_GT(predicted_value(figures, "GET, 16 bytes, Mops/s"), 1);
  // The server's time for a CRC is fitted to this.
  EXPECT_NEAR(predicted_value(figures, "PUT, 1 KiB, Mops/s"), 0.5, 0.02);
}

// The surprise of section 5.4: the card serves READs and messages at the same time.
TEST(PilafFigures, HalfPutsAreFasterThanFew) {
  const std::vector<Figure> figures = predict_pilaf_mixtures(pilaf_card());
  EXPECT_GT(predicted_value(figures, "50 % GETs, 256 bytes, Mops/s"),
            1.05 * predicted_value(figures, "90 % GETs, 256 bytes, Mops/s"));
  EXPECT_GT(predicted_value(figures, "90 % GETs, 64 bytes, Mops/s"),
            1.5 * predicted_value(figures, "90 % GETs, 64 bytes, Pilaf-VO, Mops/s"));
}

// One pipeline for READs and messages has no capacity left for the second half.
TEST(PilafFigures, HalfPutsAreSlowerThanFewOnOnePipeline) {
  sim::timing::Profile one_pipeline = pilaf_card();
  one_pipeline.has_message_pipelines = false;
  const std::vector<Figure> figures = predict_pilaf_mixtures(one_pipeline);
  EXPECT_LT(predicted_value(figures, "50 % GETs, 256 bytes, Mops/s"),
            predicted_value(figures, "90 % GETs, 256 bytes, Mops/s"));
}

// The fewer the keys, the more often a PUT replaces what a GET is about to read.
TEST(PilafFigures, ManyKeysHardlyRace) {
  const std::vector<Figure> figures = predict_pilaf_races(pilaf_card());
  const std::vector<Point>& rereads = figures.front().series.front().points;
  EXPECT_GT(rereads.front().y, 1);
  EXPECT_LT(rereads.back().y, rereads.front().y / 100);
}

}  // namespace
}  // namespace falafel::figures
