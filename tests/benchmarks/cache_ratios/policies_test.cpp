// Eviction policies: which item leaves, and the order of their hit ratios.
#include "tools/benchmarks/cache_ratios/policies.h"

#include <gtest/gtest.h>

#include "tools/benchmarks/cache_ratios/trace.h"

namespace falafel::cache_ratios {
namespace {

constexpr std::uint64_t item_count = 2'000;
constexpr std::uint64_t capacity = 100;

double ratio(std::unique_ptr<Policy> policy, std::uint64_t hits_per_report) {
  return hit_ratio(*policy, {.items = item_count,
                             .gets = 100'000,
                             .hits_per_report = hits_per_report,
                             .gets_per_shift = 0,
                             .seed = 1});
}

TEST(LeastRecentlyUsed, RemovesTheItemWhoseAccessIsTheOldest) {
  const auto policy = least_recently_used(4, 2);
  policy->insert(0);
  policy->insert(1);
  policy->accessed(0);
  policy->insert(2);
  EXPECT_TRUE(policy->contains(0));
  EXPECT_FALSE(policy->contains(1));
  EXPECT_TRUE(policy->contains(2));
}

TEST(Clock, SparesAnItemOncePerCountedAccess) {
  const auto policy = clock(6, 2, 2);
  policy->insert(0);
  policy->insert(1);
  for (int access = 0; access < 5; ++access) policy->accessed(0);
  policy->insert(2);  // the hand passes item 0, and removes item 1
  EXPECT_FALSE(policy->contains(1));
  policy->insert(3);  // passes item 0 again, and removes item 2
  EXPECT_TRUE(policy->contains(0));
  EXPECT_FALSE(policy->contains(2));
  policy->insert(4);  // the count of item 0 was at most 2
  EXPECT_FALSE(policy->contains(0));
}

TEST(WindowTinyLfu, DoesNotAdmitAnItemThatIsRarerThanTheVictim) {
  const auto policy = window_tiny_lfu(8, 2);  // one in the window, one behind it
  policy->insert(0);
  policy->accessed(0);
  policy->insert(1);  // item 0 leaves the window and is admitted
  policy->insert(2);  // item 1 leaves the window and the cache
  EXPECT_TRUE(policy->contains(0));
  EXPECT_FALSE(policy->contains(1));
  EXPECT_TRUE(policy->contains(2));
}

TEST(Ratios, AreInTheOrderOfWhatThePoliciesKnow) {
  const double fifo = ratio(clock(item_count, capacity, 1), 0);
  const double sampled = ratio(clock(item_count, capacity, 3), 16);
  EXPECT_GT(ratio(clock(item_count, capacity, 1), 1), fifo);
  EXPECT_GT(sampled, fifo);
  EXPECT_GT(ratio(clock(item_count, capacity, 3), 1), sampled);
  EXPECT_GT(ratio(window_tiny_lfu(item_count, capacity), 1),
            ratio(least_recently_used(item_count, capacity), 1));
}

}  // namespace
}  // namespace falafel::cache_ratios
