// The judge of leases of operators.
#include "tools/scenarios/cluster/lease_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace falafel::cluster_scenario_test {
namespace {

using cluster_scenario::LeaseWatch;

TEST(LeaseWatch, AcceptsChangesWithinALease) {
  LeaseWatch watch(100);
  watch.on_list_read(1'000);
  EXPECT_EQ(watch.objection_to_change(1'000), std::nullopt);
  EXPECT_EQ(watch.objection_to_change(1'099), std::nullopt);
}

TEST(LeaseWatch, ObjectsToChangesAfterTheLease) {
  LeaseWatch watch(100);
  watch.on_list_read(1'000);
  const auto objection = watch.objection_to_change(1'100);
  ASSERT_TRUE(objection.has_value());
  EXPECT_THAT(*objection, testing::HasSubstr("100 ns after the directory had its list"));
}

TEST(LeaseWatch, BeginsALeaseWithEachReading) {
  LeaseWatch watch(100);
  watch.on_list_read(1'000);
  watch.on_list_read(1'050);
  EXPECT_EQ(watch.objection_to_change(1'149), std::nullopt);
  EXPECT_TRUE(watch.objection_to_change(1'150).has_value());
}

TEST(LeaseWatch, ObjectsToChangesWithoutAReading) {
  EXPECT_TRUE(LeaseWatch(100).objection_to_change(0).has_value());
}

}  // namespace
}  // namespace falafel::cluster_scenario_test
