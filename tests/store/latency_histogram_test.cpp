#include "falafel/latency_histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace falafel::store_benchmark {
namespace {

TEST(LatencyHistogram, SmallDurationsAreExact) {
  LatencyHistogram histogram;
  for (std::uint64_t duration = 1; duration <= 100; ++duration) histogram.record(duration);
  EXPECT_EQ(histogram.quantile(0.5), 50U);
  EXPECT_EQ(histogram.quantile(0.99), 99U);
  EXPECT_EQ(histogram.greatest(), 100U);
}

TEST(LatencyHistogram, IsEmptyAtFirst) {
  EXPECT_EQ(LatencyHistogram().count(), 0U);
  EXPECT_EQ(LatencyHistogram().quantile(0.5), 0U);
}

TEST(LatencyHistogram, TakesTheGreatestNumberThereIs) {
  LatencyHistogram histogram;
  histogram.record(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(histogram.quantile(0.5), std::numeric_limits<std::uint64_t>::max());
}

RC_GTEST_PROP(LatencyHistogram, QuantilesAreThoseOfTheSortedDurations, ()) {
  auto durations = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint64_t>>(rc::gen::map(
      rc::gen::inRange(0, 40), [](int shift) { return std::uint64_t{0x155} << shift >> 8U; })));
  LatencyHistogram histogram;
  for (const std::uint64_t duration : durations) histogram.record(duration);
  std::ranges::sort(durations);
  for (const double fraction : {0.5, 0.9, 1.0}) {
    const auto wanted =
        static_cast<std::size_t>(std::llround(fraction * static_cast<double>(durations.size())));
    const auto exact = static_cast<double>(durations[wanted == 0 ? 0 : wanted - 1]);
    const auto told = static_cast<double>(histogram.quantile(fraction));
    RC_ASSERT(told >= exact);
    RC_ASSERT(told <= exact * 1.016 + 1);
  }
}

RC_GTEST_PROP(LatencyHistogram, CountsBelowBoundariesAreExact,
              (std::vector<std::uint16_t> durations)) {
  LatencyHistogram histogram;
  for (const std::uint16_t duration : durations) histogram.record(duration);
  for (const std::uint64_t limit : {0U, 1U, 63U, 64U, 96U, 256U, 384U, 4'096U, 40'960U, 65'536U}) {
    RC_ASSERT(histogram.count_below(limit) ==
              static_cast<std::uint64_t>(std::ranges::count_if(
                  durations, [&](std::uint16_t duration) { return duration < limit; })));
  }
}

TEST(LatencyHistogram, BucketsThatWereCountedElsewhereGiveTheSameQuantiles) {
  LatencyHistogram recorded;
  LatencyHistogram added;
  for (const std::uint64_t duration : {5U, 700U, 701U, 100'000U}) {
    recorded.record(duration);
    added.add(LatencyHistogram::bucket_of(duration), 1);
  }
  added.add(0, 0);
  EXPECT_EQ(added.count(), 4U);
  EXPECT_EQ(added.quantile(0.5), recorded.quantile(0.5));
  EXPECT_GE(added.greatest(), 100'000U);
  EXPECT_LE(added.greatest(), 101'600U);
}

TEST(LatencyHistogram, SumsCountEverything) {
  LatencyHistogram first;
  LatencyHistogram second;
  first.record(10);
  second.record(1'000);
  second.record(20);
  first += second;
  EXPECT_EQ(first.count(), 3U);
  EXPECT_EQ(first.quantile(0.5), 20U);
  EXPECT_EQ(first.greatest(), 1'000U);
}

}  // namespace
}  // namespace falafel::store_benchmark
