// A resource serves whatever is booked in whatever order, and loses no time in which it is idle.
#include "fabric/sim/timing/resource.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace falafel::sim::timing {
namespace {

TEST(Resource, ServesInTheOrderOfBookingWhatArrivesTogether) {
  Resource resource;
  EXPECT_EQ(resource.begin(0, 100, 30), 100U);
  EXPECT_EQ(resource.begin(0, 100, 30), 130U);
  EXPECT_EQ(resource.end(0, 150, 10), 170U);
  EXPECT_EQ(resource.busy_ps(), 70U);
}

TEST(Resource, RemembersEveryGapBetweenItsBookings) {
  Resource resource;
  for (const std::uint64_t arrival_ps : {100U, 200U, 300U, 400U}) resource.begin(0, arrival_ps, 50);
  EXPECT_EQ(resource.begin(0, 0, 100), 0U);
  EXPECT_EQ(resource.begin(0, 0, 50), 150U);
  EXPECT_EQ(resource.begin(0, 340, 50), 350U);
  EXPECT_EQ(resource.begin(0, 0, 50), 250U);
  EXPECT_EQ(resource.begin(0, 0, 1), 450U);
}

TEST(Resource, TakesNoTimeForNothing) {
  Resource resource;
  EXPECT_EQ(resource.begin(0, 100, 0), 100U);
  EXPECT_EQ(resource.begin(0, 0, 200), 0U);
  EXPECT_EQ(resource.begin(0, 100, 0), 200U);
}

// The earliest time, not before the arrival, at which nothing else is served
// for the duration.
std::uint64_t expected_begin_ps(const std::map<std::uint64_t, std::uint64_t>& services,
                                std::uint64_t arrival_ps, std::uint64_t duration_ps) {
  std::uint64_t begin_ps = arrival_ps;
  for (const auto& [other_begin_ps, other_end_ps] : services) {
    if (begin_ps + duration_ps <= other_begin_ps) break;
    begin_ps = std::max(begin_ps, other_end_ps);
  }
  return begin_ps;
}

RC_GTEST_PROP(ResourceProperty, ServesEachRequestAsSoonAsItCan, ()) {
  Resource resource;
  std::map<std::uint64_t, std::uint64_t> services;
  std::uint64_t now_ps = 0;
  std::uint64_t busy_ps = 0;
  const auto count = *rc::gen::inRange(1, 200);
  for (int booking = 0; booking < count; ++booking) {
    now_ps += *rc::gen::inRange<std::uint64_t>(0, Resource::longest_delay_ps / 8);
    const auto duration_ps = *rc::gen::inRange<std::uint64_t>(1, 3'000'000);
    const auto earliest_ps = now_ps - std::min(now_ps, duration_ps + Resource::longest_delay_ps);
    const auto arrival_ps = *rc::gen::inRange(earliest_ps, now_ps + 20'000'000);
    const std::uint64_t expected_ps = expected_begin_ps(services, arrival_ps, duration_ps);
    RC_ASSERT(resource.begin(now_ps, arrival_ps, duration_ps) == expected_ps);
    services.emplace(expected_ps, expected_ps + duration_ps);
    busy_ps += duration_ps;
  }
  RC_ASSERT(resource.busy_ps() == busy_ps);
}

}  // namespace
}  // namespace falafel::sim::timing
