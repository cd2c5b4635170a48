// The bits of an ITE and the bytes of a DTE.
#include "stores/nessie/layout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "stores/nessie/hashing.h"
#include "tests/stores/nessie/bytes.h"

namespace falafel::nessie_test {
namespace {

using namespace nessie;

TEST(IndexEntryWord, HasItsFieldsWhereTheDocumentSays) {
  EXPECT_EQ(encode({}), 1U);
  EXPECT_EQ(encode({.is_empty = true}), 3U);
  EXPECT_EQ(encode({.filter = 127}), 1U | 127U << 2U);
  EXPECT_EQ(encode({.data_entry = 1}), 1U | 1U << 9U);
  EXPECT_EQ(encode({.data_table = 255}), 1U | std::uint64_t{255} << 56U);
}

RC_GTEST_PROP(IndexEntryWord, IsTheSameAfterDecoding, ()) {
  const IndexEntry entry{.data_table = *rc::gen::inRange<std::uint64_t>(0, 256),
                         .data_entry = *rc::gen::inRange<std::uint64_t>(0, data_entry_limit),
                         .filter = *rc::gen::inRange<std::uint64_t>(0, 128),
                         .is_empty = *rc::gen::arbitrary<bool>()};
  RC_ASSERT(decode(encode(entry)) == entry);
  RC_ASSERT(has_watermark(encode(entry)));
}

RC_GTEST_PROP(DataEntryBytes, AreTheSameAfterDecoding,
              (std::string key_text, std::string value_text)) {
  const Bytes key = bytes_of(key_text);
  const Bytes value = bytes_of(value_text);
  const std::uint64_t spare = *rc::gen::inRange<std::uint64_t>(0, 20);
  const DataEntryLayout layout(key.size() + spare, value.size() + spare);
  const Bytes bytes = layout.encode(
      {.header = {.flags = 2, .expiry_ns = 5, .previous = 9}, .key = key, .value = value});
  RC_ASSERT(bytes.size() == layout.entry_bytes());
  RC_ASSERT(bytes.size() % 8 == 0U);
  const DataEntry entry = layout.decode(bytes).value();
  RC_ASSERT(entry.key == key);
  RC_ASSERT(entry.value == value);
  RC_ASSERT(entry.header.expiry_ns == 5U);
  RC_ASSERT(entry.header.previous == 9U);
  RC_ASSERT(entry.header.is_recycled() && !entry.header.is_valid());
  RC_ASSERT(layout.decode(std::span(bytes).first(layout.front_bytes()))->key == key);
}

TEST(DataEntryBytes, AreWhereTheDocumentSays) {
  const DataEntryLayout layout(3, 9);
  EXPECT_EQ(layout.key_offset(), 32U);
  EXPECT_EQ(layout.value_offset(), 40U);
  EXPECT_EQ(layout.watermark_offset(), 56U);
  EXPECT_EQ(layout.entry_bytes(), 64U);
  const Bytes bytes = layout.encode({.key = bytes_of("key"), .value = bytes_of("value")});
  EXPECT_EQ(text_of(std::span(bytes).subspan(32, 3)), "key");
  EXPECT_EQ(text_of(std::span(bytes).subspan(40, 5)), "value");
  EXPECT_EQ(bytes[56], std::byte{1});
}

TEST(DataEntryBytes, WithImpossibleSizesAreRefused) {
  const DataEntryLayout layout(8, 8);
  Bytes bytes(layout.entry_bytes());
  bytes[24] = std::byte{9};
  EXPECT_FALSE(layout.decode(bytes));
  bytes[24] = std::byte{8};
  EXPECT_TRUE(layout.decode(bytes));
  bytes[31] = std::byte{255};
  EXPECT_FALSE(layout.decode(bytes));
  EXPECT_FALSE(layout.decode({}));
}

RC_GTEST_PROP(Hashing, GivesEachKeyItsSlotsOnce, (std::string text)) {
  const Bytes key = bytes_of(text);
  Options options;
  options.index_entries = *rc::gen::inRange<std::uint64_t>(1, 5);
  options.ways = *rc::gen::inRange<std::uint32_t>(1, most_ways + 1);
  options.filter_bits = *rc::gen::inRange<std::uint32_t>(0, most_filter_bits + 1);
  const std::uint64_t nodes = *rc::gen::inRange<std::uint64_t>(1, 4);
  const Candidates candidates = candidates_of(key, nodes, options);
  const std::set<Slot> slots(candidates.begin(), candidates.end());
  RC_ASSERT(slots.size() == candidates.size());
  RC_ASSERT(candidates.size() >= 1U && candidates.size() <= options.ways);
  for (const Slot& slot : slots) {
    RC_ASSERT(slot.node < nodes && slot.index < options.index_entries);
    RC_ASSERT(candidates.contains(slot));
  }
  RC_ASSERT(filter_of(key, options) < (std::uint64_t{1} << options.filter_bits));
}

}  // namespace
}  // namespace falafel::nessie_test
