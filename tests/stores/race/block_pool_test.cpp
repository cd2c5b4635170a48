// The blocks of a client: freed ones first, then those of the segment.
#include "stores/race/block_pool.h"

#include <gtest/gtest.h>

#include "stores/race/layout.h"

namespace falafel::race_test {
namespace {

using race::BlockPool;
using race::unit_bytes;

TEST(BlockPool, CutsASegment) {
  BlockPool pool;
  EXPECT_FALSE(pool.take(1));
  pool.add_segment(4'096, 3 * unit_bytes);
  EXPECT_EQ(pool.take(2)->offset, 4'096U);
  EXPECT_FALSE(pool.take(2));
  EXPECT_EQ(pool.take(1)->offset, 4'096 + 2 * unit_bytes);
  EXPECT_FALSE(pool.take(1));
}

TEST(BlockPool, PrefersTheBlockThatWasFreedLast) {
  BlockPool pool;
  pool.add_segment(4'096, 3 * unit_bytes);
  pool.free({.offset = 128, .units = 1, .tag = 5});
  pool.free({.offset = 256, .units = 1, .tag = 6});
  EXPECT_EQ(pool.take(2)->offset, 4'096U);
  EXPECT_EQ(pool.take(1)->tag, 6U);
  EXPECT_EQ(pool.take(1)->tag, 5U);
  EXPECT_EQ(pool.take(1)->offset, 4'096 + 2 * unit_bytes);
}

}  // namespace
}  // namespace falafel::race_test
