#include "tools/store_benchmark/latency_histogram.h"

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
