#include "fabric/random.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace falafel::fabric {
namespace {

TEST(RandomGenerator, IsSplitmix64) {
  RandomGenerator random(0);  // matches other implementations
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafU);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4U);
  EXPECT_EQ(random.next(), 0x06c45d188009454fU);
  EXPECT_EQ(random.next(), 0xf88bb8a8724c81ecU);
}

TEST(RandomGenerator, DrawsBelowTheBoundUniformly) {
  RandomGenerator random(7);
  for (const std::uint64_t bound : {2U, 3U, 7U, 10U, 64U}) {
    constexpr int draws_of_each = 10'000;
    std::vector<int> counts(bound);
    for (std::uint64_t draw = 0; draw < bound * std::uint64_t{draws_of_each}; ++draw) {
      ++counts.at(random.below(bound));
    }
    for (const int count : counts) EXPECT_NEAR(count, draws_of_each, 500);
  }
}

TEST(RandomGenerator, DrawsAnything64BitsWideBelowZero) {
  RandomGenerator random(7);
  std::uint64_t ever_set = 0;
  std::uint64_t always_set = ~std::uint64_t{0};
  for (int draw = 0; draw < 1'000; ++draw) {
    const std::uint64_t number = random.below(0);
    ever_set |= number;
    always_set &= number;
  }
  EXPECT_EQ(ever_set, ~std::uint64_t{0});
  EXPECT_EQ(always_set, 0U);
}

RC_GTEST_PROP(RandomGenerator, StaysBelowTheBound, (std::uint64_t seed, std::uint64_t bound)) {
  RC_PRE(bound != 0U);
  RandomGenerator random(seed);
  for (int draw = 0; draw < 100; ++draw) RC_ASSERT(random.below(bound) < bound);
}

}  // namespace
}  // namespace falafel::fabric
