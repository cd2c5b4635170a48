// The judge of times to live. A client stores "a" of the key "k" at 100 ns, for 50 ns.
#include "tools/scenarios/cluster/lifetime_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "engine/layout/pinned.h"

namespace falafel::cluster_scenario_test {
namespace {

class LifetimeWatchTest : public testing::Test {
 protected:
  void store(std::uint64_t time_to_live_ns, std::uint64_t now_ns) {
    watch_.on_called("k", "a");
    watch_.on_stored("k", "a", time_to_live_ns, now_ns);
  }
  bool objects_to(std::uint64_t time_to_live_ns, std::uint64_t now_ns) const {
    return watch_.objection_to_copy("k", "a", time_to_live_ns, now_ns).has_value();
  }

  cluster_scenario::LifetimeWatch watch_;
};

TEST_F(LifetimeWatchTest, ObjectsToACopyThatLivesLonger) {
  store(50, 100);
  EXPECT_FALSE(objects_to(30, 120));
  EXPECT_TRUE(objects_to(31, 120));
  EXPECT_THAT(*watch_.objection_to_copy("k", "a", 31, 120), testing::HasSubstr("'k' (a)"));
}

TEST_F(LifetimeWatchTest, ObjectsToACopyThatLivesForever) {
  store(50, 100);
  EXPECT_TRUE(objects_to(0, 120));
}

TEST_F(LifetimeWatchTest, AcceptsTheLatestOfEqualValues) {
  store(50, 100);
  store(50, 200);
  EXPECT_FALSE(objects_to(50, 200));
  EXPECT_TRUE(objects_to(51, 200));
  store(0, 210);
  store(50, 220);
  EXPECT_FALSE(objects_to(0, 300));
}

TEST_F(LifetimeWatchTest, DemandsThatACopyIsPinnedAsTheValueIs) {
  constexpr std::uint64_t pinned = engine::pinned_time_to_live_ns;
  store(pinned, 100);
  EXPECT_FALSE(objects_to(pinned, 120));
  EXPECT_TRUE(objects_to(0, 120));
  EXPECT_TRUE(objects_to(50, 120));
  EXPECT_THAT(*watch_.objection_to_copy("k", "a", 0, 120), testing::HasSubstr("not pinned"));
  store(0, 130);
  EXPECT_FALSE(objects_to(0, 140));
}

TEST_F(LifetimeWatchTest, ObjectsToACopyThatIsPinnedUnlikeTheValue) {
  store(0, 100);
  EXPECT_TRUE(objects_to(engine::pinned_time_to_live_ns, 120));
}

TEST_F(LifetimeWatchTest, AcceptsAnythingAfterASetWithoutAnAnswer) {
  store(50, 100);
  watch_.on_called("k", "a");
  EXPECT_FALSE(objects_to(0, 120));
}

TEST_F(LifetimeWatchTest, AcceptsValuesThatItDoesNotKnow) {
  store(50, 100);
  EXPECT_FALSE(watch_.objection_to_copy("k", "b", 0, 120).has_value());
  EXPECT_FALSE(watch_.objection_to_copy("other", "a", 0, 120).has_value());
}

}  // namespace
}  // namespace falafel::cluster_scenario_test
