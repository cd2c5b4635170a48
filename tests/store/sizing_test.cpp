#include "tools/server/sizing.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <optional>

namespace falafel::server_program {
namespace {

RC_GTEST_PROP(Sizing, AStoreTakesNoMoreMemoryThanItWasGivenAndLittleLess, ()) {
  const auto memory_bytes = *rc::gen::inRange<std::uint64_t>(1 << 20, std::uint64_t{1} << 37U);
  const auto clients = *rc::gen::inRange<std::uint32_t>(1, 1'000);
  const auto semi_spaces = *rc::gen::arbitrary<bool>();
  const auto geometry =
      divide_memory({.memory_bytes = memory_bytes, .clients = clients, .semi_spaces = semi_spaces});
  RC_ASSERT(geometry.has_value());
  RC_ASSERT(geometry->chunk_bytes() <= memory_bytes);
  const std::uint64_t rounding_bytes = engine::alignment_bytes * geometry->mature_space_count;
  RC_ASSERT(geometry->chunk_bytes() + 512 + rounding_bytes >= memory_bytes);
  RC_ASSERT(geometry->has_blocks() != semi_spaces);
  RC_ASSERT(!engine::find_invalid_geometry(*geometry).has_value());
}

TEST(Sizing, UsesTheBitsThatOffsetsLeave) {
  const auto usual = divide_memory({});
  ASSERT_TRUE(usual.has_value());
  EXPECT_EQ(usual->size_class_bits, 3U);
  EXPECT_EQ(usual->fingerprint_bits, 3U);
  const auto none = divide_memory({.reference_bits = {.size_class = 0, .fingerprint = 0}});
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->offset_bits(), 32U);
  const auto refused = divide_memory({.reference_bits = {.fingerprint = 8}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().find("fingerprint_bits"), std::string::npos) << refused.error();
}

TEST(Sizing, HasSemiSpacesIfThereIsNoRoomForEightBlocks) {
  const std::uint64_t region_bytes = 256 << 10;
  const auto few = divide_memory({.memory_bytes = 2 << 20, .region_bytes = region_bytes});
  ASSERT_TRUE(few.has_value()) << few.error();
  EXPECT_FALSE(few->has_blocks());
  const auto more = divide_memory({.memory_bytes = 4 << 20, .region_bytes = region_bytes});
  ASSERT_TRUE(more.has_value()) << more.error();
  EXPECT_TRUE(more->has_blocks());
}

TEST(Sizing, TakesWhatIsGivenAndSaysWhatDoesNotFit) {
  const auto geometry = divide_memory(
      {.memory_bytes = 64 << 20, .table_entries = 1'000, .region_bytes = 65'536, .clients = 2});
  ASSERT_TRUE(geometry.has_value());
  EXPECT_EQ(geometry->table_entries, 1'000U);
  EXPECT_EQ(geometry->region_bytes, 65'536U);
  EXPECT_EQ(geometry->region_count, 8U);
  for (const SizingOptions& wrong :
       {SizingOptions{.memory_bytes = 1'000}, SizingOptions{.memory_bytes = 0},
        SizingOptions{.table_entries = ~std::uint64_t{0}},
        SizingOptions{.region_bytes = std::uint64_t{1} << 40U}}) {
    const auto refused = divide_memory(wrong);
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().find("--memory"), std::string::npos) << refused.error();
  }
}

}  // namespace
}  // namespace falafel::server_program
