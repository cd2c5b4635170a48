// Predictions of C-Hint's paper: what the profile was made from comes out again, and hit ratios
// are in the paper's order.
#include "tools/benchmarks/figures/c_hint_figures.h"

#include <gtest/gtest.h>

#include "tests/benchmarks/figures/predicted_value.h"

namespace falafel::figures {
namespace {

TEST(CHintFigures, RatiosAreInThePapersOrder) {
  const std::vector<Figure> figures = predict_c_hint_pointer_hits();
  EXPECT_NEAR(predicted_value(figures, "5 % SETs, hits by READ, most, %"), 47.4, 0.25 * 47.4);
  EXPECT_GT(predicted_value(figures, "hits by READ, times those of a term of 8 s, most"),
            predicted_value(figures, "hits by READ, times those of a term of 128 s, most"));
}

TEST(CHintFigures, ReadsTakeTheTimeOfTheProfileAndMessagesEndAtTheServersThread) {
  const std::vector<Figure> figures =
      predict_c_hint_times(sim::timing::find_profile("connectx3-fdr").value());
  EXPECT_NEAR(predicted_value(figures, "GET by READ, 1 KB, us"), 4.3, 0.3);
  EXPECT_NEAR(predicted_value(figures, "CRC64, 1000 KB, us"), 5'122.7, 10);
  EXPECT_GT(predicted_value(figures, "32 clients, GETs by READ, times by message"), 1.2);
}

// Section 5.4: reports cost so little that the distributions overlap, and a WRITE saves the reply.
TEST(CHintFigures, ReportsAreCheapAndWritesCheaperThanMessages) {
  const std::vector<Figure> figures =
      predict_c_hint_reports(sim::timing::find_profile("connectx3-fdr").value());
  EXPECT_NEAR(predicted_value(figures, "median with reports every second, times every 64 s"), 1,
              0.1);
  EXPECT_GT(predicted_value(figures, "a message, times a WRITE, most"), 1.3);
}

}  // namespace
}  // namespace falafel::figures
