// The places of buckets and slots, and blocks that verify themselves.
#include "stores/race/layout.h"

#include <gtest/gtest.h>

#include <cstring>

#include "stores/race/options.h"
#include "tests/stores/bytes.h"

namespace falafel::race_test {
namespace {

using race::SubtableLayout;
using stores_test::bytes_of;
using stores_test::text_of;

TEST(Layout, GroupsAreMainOverflowMain) {
  const SubtableLayout layout(2, 7);
  EXPECT_EQ(layout.bucket_bytes(), 64U);
  EXPECT_EQ(layout.bytes(), 6 * 64U);
  EXPECT_EQ(layout.combined_bytes(), 128U);
  EXPECT_EQ(layout.combined_offset(0), 0U);
  EXPECT_EQ(layout.combined_offset(1), 64U);
  EXPECT_EQ(layout.combined_offset(2), 3 * 64U);
  EXPECT_EQ(layout.combined_offset(3), 4 * 64U);
  EXPECT_EQ(SubtableLayout::main_bucket(0), 0U);
  EXPECT_EQ(SubtableLayout::main_bucket(1), 1U);
}

race::Bytes whole_units(race::Bytes block) {
  block.resize(race::units_of(block.size()) * race::unit_bytes);
  return block;
}

TEST(Block, HasItsKeyAndValue) {
  const auto block = whole_units(race::make_block(bytes_of("key"), bytes_of("value"), 9));
  EXPECT_EQ(block.size(), 64U);
  const auto view = race::parse_block(block);
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->is_right);
  EXPECT_EQ(view->tag, 9U);
  EXPECT_EQ(text_of(view->key), "key");
  EXPECT_EQ(text_of(view->value), "value");
}

TEST(Block, DoesNotVerifyIfAnyByteIsWrong) {
  const auto block = race::make_block(bytes_of("key"), bytes_of("value"), 0);
  for (std::size_t index = 0; index < block.size(); ++index) {
    auto damaged = block;
    damaged[index] ^= std::byte{1};
    const auto view = race::parse_block(whole_units(damaged));
    EXPECT_FALSE(view && view->is_right) << index;
  }
}

TEST(Block, ZerosDoNotVerify) {
  const auto view = race::parse_block(race::Bytes(64));
  EXPECT_FALSE(view && view->is_right);
}

TEST(Block, RefusesLengthsThatDoNotFit) {
  auto block = whole_units(race::make_block(bytes_of("key"), bytes_of("value"), 0));
  const std::uint32_t value_bytes = 1'000;
  std::memcpy(block.data() + offsetof(race::BlockHeader, value_bytes), &value_bytes, 4);
  EXPECT_FALSE(race::parse_block(block));
  EXPECT_FALSE(race::parse_block({}));
}

TEST(Options, MustBeInRange) {
  const fabric::DeviceAttributes device{.max_completions = 1'000};
  const auto is_refused = [&](auto change) {
    race::Options options;
    change(options);
    return race::find_invalid_option(options, device).has_value();
  };
  EXPECT_FALSE(is_refused([](race::Options&) {}));
  EXPECT_TRUE(is_refused([](race::Options& options) { options.heap_bytes = 3 * 64; }));
  EXPECT_TRUE(is_refused([](race::Options& options) { options.most_block_bytes = 256 * 64; }));
  EXPECT_TRUE(is_refused([](race::Options& options) { options.segment_bytes = 128; }));
  EXPECT_TRUE(is_refused([](race::Options& options) { options.fingerprint_bits = 9; }));
  EXPECT_TRUE(is_refused([](race::Options& options) { options.initial_depth = 9; }));
  EXPECT_TRUE(is_refused([](race::Options& options) { options.max_clients = 501; }));
}

}  // namespace
}  // namespace falafel::race_test
