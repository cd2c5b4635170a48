// Predictions of Troost's thesis: the benchmark's keys and walks, and the effects of starting
// clients one by one, of more threads than processors, and of blocking.
#include "tools/benchmarks/figures/troost_figures.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/benchmarks/figures/predicted_value.h"
#include "tools/benchmarks/figures/two_sided_run.h"

namespace falafel::figures {
namespace {

using two_sided::Waiting;

sim::timing::Profile card() { return sim::timing::find_profile("connectx3-fdr").value(); }

TwoSidedLoad load_of(std::uint32_t clients, Waiting waiting) {
  return {.transport = fabric::Transport::unreliable_connection,
          .waiting = waiting,
          .clients = clients,
          .pair_ns = 155,
          .start_interval_ns = 0,
          .coarseness = 16};
}

TwoSidedCost run(const TwoSidedLoad& load) { return measure_two_sided(card(), load); }
TwoSidedCost run(std::uint32_t clients, Waiting waiting) { return run(load_of(clients, waiting)); }

TEST(TroostFigures, MostGetsAreForAbsentKeysAndWalkALongList) {
  TwoSidedLoad load = load_of(4, Waiting::polling);
  load.coarseness = 1;
  const TwoSidedCost cost = run(load);
  EXPECT_NEAR(cost.absent_share, 0.94, 0.01);
  EXPECT_NEAR(cost.pairs_walked, 290, 25);
}

// Pairs of a longer list take longer, too, so the time of a walk grows with the square of the run.
TEST(TroostFigures, WalksGrowWithTheRun) {
  const TwoSidedCost cost = run(8, Waiting::polling);
  const double longest_us = 0.155 * 586;
  EXPECT_NEAR(cost.median_us, longest_us / 4, 0.3 * longest_us / 4);
  EXPECT_NEAR(cost.tail_us, longest_us, 0.4 * longest_us);
  TwoSidedLoad free = load_of(8, Waiting::polling);
  free.pair_ns = 0;
  EXPECT_LT(run(free).tail_us, 10);
}

TEST(TroostFigures, ACoarserRunHasTheSameTimes) {
  TwoSidedLoad fine = load_of(4, Waiting::polling);
  fine.coarseness = 2;
  TwoSidedLoad coarse = fine;
  coarse.coarseness = 4;
  EXPECT_NEAR(run(coarse).mean_us, run(fine).mean_us, 0.15 * run(fine).mean_us);
}

TEST(TroostFigures, ThroughputGrowsWithClientsUntilTheProcessorsAreTaken) {
  const double of_5 = run(5, Waiting::polling).operations_per_second;
  const double of_32 = run(32, Waiting::polling).operations_per_second;
  EXPECT_GT(of_32, 4.5 * of_5);
  EXPECT_LT(run(60, Waiting::polling).operations_per_second, 0.8 * of_32);
}

TEST(TroostFigures, ClientsThatStartOneByOneMakeARunLonger) {
  TwoSidedLoad load = load_of(16, Waiting::polling);
  const TwoSidedCost together = run(load);
  load.start_interval_ns = 100'000'000;
  const TwoSidedCost one_by_one = run(load);
  const double seconds = 1e7 / together.operations_per_second;
  EXPECT_NEAR(1e7 / one_by_one.operations_per_second, seconds + 1.5, 0.7);
}

TEST(TroostFigures, WorkOfOneThreadAtATimeLimitsTheThroughput) {
  TwoSidedLoad load = load_of(16, Waiting::polling);
  load.untimed_serial_ns = 10'000;
  const TwoSidedCost untimed = run(load);
  EXPECT_NEAR(untimed.operations_per_second, 1e5, 1e4);
  load.timed_serial_ns = std::exchange(load.untimed_serial_ns, 0);
  const TwoSidedCost timed = run(load);
  EXPECT_NEAR(timed.operations_per_second, 1e5, 1e4);
  EXPECT_GT(timed.median_us, 3 * untimed.median_us);
}

TEST(TroostFigures, BlockingCostsTwoSwitchesPerOperationAndMachine) {
  const TwoSidedCost blocking = run(4, Waiting::blocking);
  EXPECT_NEAR(blocking.server_switches, 2e7, 2e6);
  EXPECT_NEAR(blocking.client_switches, 2e7, 2e6);
  EXPECT_EQ(run(4, Waiting::polling).server_switches, 0);
  const double preempted = run(60, Waiting::polling).server_switches;
  EXPECT_GT(preempted, 1e4);
  EXPECT_LT(preempted, 2e6);
}

TEST(TroostFigures, BlockingCostsAFewClientsTimeAndSavesManyFromWaiting) {
  const TwoSidedCost few = run(5, Waiting::blocking);
  EXPECT_LT(few.operations_per_second, 0.95 * run(5, Waiting::polling).operations_per_second);
  const TwoSidedCost many_that_block = run(60, Waiting::blocking);
  EXPECT_GT(many_that_block.operations_per_second, 5 * few.operations_per_second);
  EXPECT_GT(run(60, Waiting::polling).tail_us, 5 * many_that_block.tail_us);
}

TEST(TroostFigures, SwitchesAreComparedForBothWaysOfWaiting) {
  const std::vector<Figure> figures = predict_troost_switches(card());
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures.front().comparisons.size(), 12U);
  EXPECT_NEAR(predicted_value(figures, "UC blocking, 32 clients, server, thousands"), 20'000, 500);
  EXPECT_EQ(predicted_value(figures, "UC polling, 32 clients, server, thousands"), 0);
}

}  // namespace
}  // namespace falafel::figures
