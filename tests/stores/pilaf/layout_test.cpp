// The bytes of entries and extents, and what their checksums detect.
#include "stores/pilaf/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>

#include "stores/pilaf/options.h"
#include "tests/stores/pilaf/bytes.h"

namespace falafel::pilaf {
namespace {

using pilaf_test::bytes_of;
using pilaf_test::text_of;
using testing::HasSubstr;

TEST(Entry, ZeroedMemoryDoesNotVerify) { EXPECT_FALSE(Entry{}.verifies()); }

TEST(Entry, IsInUseOrEmpty) {
  const ExtentPointer pointer{.offset = 4'096, .bytes = 24, .crc = 99};
  const Entry entry = make_entry(pointer, 7);
  EXPECT_TRUE(entry.verifies());
  EXPECT_TRUE(entry.is_in_use());
  EXPECT_EQ(entry.changes(), 7U);
  EXPECT_EQ(entry.pointer(), pointer);
  const Entry empty = make_empty_entry(true, 8);
  EXPECT_TRUE(empty.verifies());
  EXPECT_FALSE(empty.is_in_use());
  EXPECT_TRUE(empty.was_emptied());
  EXPECT_EQ(empty.changes(), 8U);
  EXPECT_EQ(make_empty_entry().flags, 0U);
}

TEST(Entry, CountsItsChangesModuloThirtyBits) {
  constexpr std::uint32_t most = (1U << 30) - 1;
  EXPECT_EQ(make_entry({}, most).changes(), most);
  EXPECT_EQ(make_entry({}, most + 1).changes(), 0U);
  EXPECT_TRUE(make_entry({}, most + 1).is_in_use());
}

// A READ moves words one by one, so a client may get words of two entries.
RC_GTEST_PROP(Entry, MixturesOfTwoEntriesDoNotVerify, ()) {
  const auto draw = [] {
    return make_entry({.offset = *rc::gen::inRange<std::uint64_t>(0, 64) * 64,
                       .bytes = *rc::gen::element(16U, 24U, 32U),
                       .crc = *rc::gen::arbitrary<std::uint64_t>()});
  };
  const Entry first = draw();
  const Entry second = draw();
  constexpr std::size_t words = entry_bytes / fabric::word_bytes;
  std::array<std::uint64_t, words> mixture{};
  std::array<std::uint64_t, words> other{};
  std::memcpy(mixture.data(), &first, sizeof first);
  std::memcpy(other.data(), &second, sizeof second);
  for (std::size_t word = 0; word < words; ++word) {
    if (*rc::gen::arbitrary<bool>()) mixture[word] = other[word];
  }
  Entry read;
  std::memcpy(&read, std::as_bytes(std::span(mixture)).data(), sizeof read);
  RC_ASSERT(read == first || read == second || !read.verifies());
}

TEST(Extent, ContainsKeyAndValue) {
  const auto extent = make_extent(bytes_of("key"), bytes_of("value"));
  EXPECT_EQ(extent.size(), 16U);
  const auto view = parse_extent(extent);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(text_of(view->key), "key");
  EXPECT_EQ(text_of(view->value), "value");
  EXPECT_TRUE(parse_extent(make_extent(bytes_of("k"), {}))->value.empty());
}

TEST(Extent, RejectsLengthsThatDoNotFit) {
  auto extent = make_extent(bytes_of("key"), bytes_of("value"));
  extent.resize(extent.size() + 8);
  EXPECT_FALSE(parse_extent(extent));
  extent.assign(16, std::byte{0xff});  // lengths whose sum wraps around in 32 bits
  EXPECT_FALSE(parse_extent(extent));
  extent.resize(4);
  EXPECT_FALSE(parse_extent(extent));
}

TEST(Layout, IsThatOfItsDocument) {
  std::ifstream file(std::string(FALAFEL_SOURCE_FOLDER) + "/stores/pilaf/README.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto row = [](std::size_t offset, std::size_t bytes, const char* field) {
    return "| " + std::to_string(offset) + " | " + std::to_string(bytes) + " | `" + field + "` |";
  };
  EXPECT_THAT(text, HasSubstr(row(offsetof(Entry, flags), sizeof(Entry::flags), "flags")));
  EXPECT_THAT(text, HasSubstr(row(offsetof(Entry, extent_bytes), sizeof(Entry::extent_bytes),
                                  "extent_bytes")));
  EXPECT_THAT(text, HasSubstr(row(offsetof(Entry, extent_offset), sizeof(Entry::extent_offset),
                                  "extent_offset")));
  EXPECT_THAT(text,
              HasSubstr(row(offsetof(Entry, extent_crc), sizeof(Entry::extent_crc), "extent_crc")));
  EXPECT_THAT(text,
              HasSubstr(row(offsetof(Entry, entry_crc), sizeof(Entry::entry_crc), "entry_crc")));
  EXPECT_THAT(text, HasSubstr(row(offsetof(ExtentHeader, value_bytes),
                                  sizeof(ExtentHeader::value_bytes), "value_bytes")));
}

TEST(Safeguards, AreDescribed) {
  Safeguards all = Safeguards::hardened();
  for (const SafeguardDescription& safeguard : safeguard_descriptions) {
    EXPECT_TRUE(all.*safeguard.enabled) << safeguard.name;
    EXPECT_EQ(Safeguards::published().*safeguard.enabled, safeguard.is_published) << safeguard.name;
  }
}

}  // namespace
}  // namespace falafel::pilaf
