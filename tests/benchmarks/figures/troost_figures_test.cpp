// Predictions of Troost's thesis: few clients have the rate that they were fitted to, and beyond as
// many threads as processors, polling suffers and blocking does not.
#include "tools/benchmarks/figures/troost_figures.h"

#include <gtest/gtest.h>

#include "tests/benchmarks/figures/predicted_value.h"
#include "tools/benchmarks/figures/two_sided_run.h"

namespace falafel::figures {
namespace {

using two_sided::Waiting;

sim::timing::Profile card() { return sim::timing::find_profile("connectx3-fdr").value(); }

TwoSidedCost run(std::uint32_t clients, Waiting waiting) {
  return measure_two_sided(card(), {.transport = fabric::Transport::unreliable_connection,
                                    .waiting = waiting,
                                    .clients = clients,
                                    .timed_work_ns = 26'000,
                                    .think_ns = 18'000,
                                    .duration_ns = clients > 32 ? 60'000'000U : 2'000'000U});
}

TEST(TroostFigures, ThroughputGrowsWithClientsUntilTheProcessorsAreTaken) {
  const double of_5 = run(5, Waiting::polling).operations_per_second;
  const double of_15 = run(15, Waiting::polling).operations_per_second;
  const double of_32 = run(32, Waiting::polling).operations_per_second;
  EXPECT_NEAR(of_15, 3 * of_5, 0.05 * of_15);
  EXPECT_NEAR(of_32, 6.4 * of_5, 0.05 * of_32);
  EXPECT_LT(run(60, Waiting::polling).operations_per_second, 0.7 * of_32);
}

TEST(TroostFigures, BlockingCostsAFewClientsTimeAndSavesManyFromWaiting) {
  const TwoSidedCost few = run(5, Waiting::blocking);
  EXPECT_LT(few.operations_per_second, 0.95 * run(5, Waiting::polling).operations_per_second);
  const TwoSidedCost many_that_block = run(60, Waiting::blocking);
  EXPECT_GT(many_that_block.operations_per_second, 6 * few.operations_per_second);
  EXPECT_GT(run(60, Waiting::polling).tail_us, 20 * many_that_block.tail_us);
}

TEST(TroostFigures, FewClientsThatBlockAreAsSlowAsInTheThesis) {
  const std::vector<Figure> figures = predict_troost_blocking(card());
  for (const std::string_view quantity :
       {"RC blocking, 15 clients, kops/s", "UC blocking, 15 clients, kops/s",
        "TCP blocking, 15 clients, kops/s"}) {
    EXPECT_GT(predicted_value(figures, quantity), 150) << quantity;
  }
  EXPECT_NEAR(predicted_value(figures, "UC blocking, 5 clients, median, us"), 41, 8);
  EXPECT_NEAR(predicted_value(figures, "TCP blocking, 5 clients, median, us"), 64, 8);
}

}  // namespace
}  // namespace falafel::figures
