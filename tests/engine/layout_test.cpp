// The small layouts: table entries, checksums, the hash of keys, and the layout of the chunk.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/layout/container.h"
#include "engine/layout/crc32c.h"
#include "engine/layout/entry.h"
#include "engine/layout/geometry.h"
#include "engine/layout/key_hash.h"

namespace falafel::engine {
namespace {

std::vector<std::byte> ascending_bytes(std::size_t count, std::size_t first = 0) {
  std::vector<std::byte> bytes(count);
  for (std::size_t index = 0; index < count; ++index) {
    bytes[index] = static_cast<std::byte>(first + index);
  }
  return bytes;
}

// Entry

constexpr std::uint32_t largest_tag = (std::uint32_t{1} << most_tag_bits) - 1;

TEST(Entry, HasItsFieldsWhereTheDocumentSays) {
  const Entry entry(0x8000'0001'0000'000e);
  EXPECT_EQ(entry.reference(), 0x8000'0001U);
  EXPECT_EQ(entry.tag(), 3U);
  EXPECT_TRUE(entry.is_locked());
  EXPECT_FALSE(entry.is_deleted());
  EXPECT_TRUE(Entry(1).is_deleted());
  EXPECT_FALSE(Entry(1).is_locked());
}

TEST(Entry, ZeroedMemoryIsEmptyAndLive) {
  constexpr Entry zeroed;
  EXPECT_TRUE(zeroed.is_empty());
  EXPECT_FALSE(zeroed.is_locked());
  EXPECT_FALSE(zeroed.is_deleted());
  EXPECT_EQ(zeroed.tag(), 0U);
}

TEST(Entry, TagWrapsWithoutCarryingIntoTheOffset) {
  const Entry last(0xffff'ffff'ffff'fffc);
  ASSERT_EQ(last.tag(), largest_tag);
  EXPECT_EQ(last.with_next_tag(most_tag_bits).word(), 0xffff'ffff'0000'0000U);
  EXPECT_EQ(Entry(0x0000'0001'ffff'ffff).with_next_tag(most_tag_bits).word(),
            0x0000'0001'0000'0003U);
}

RC_GTEST_PROP(Entry, NextTagChangesNothingElse, (std::uint64_t word)) {
  const Entry entry(word);
  const auto tag_bits = *rc::gen::inRange<std::uint32_t>(1, most_tag_bits + 1);
  const std::uint32_t count = std::uint32_t{1} << tag_bits;
  const Entry next = entry.with_next_tag(tag_bits);
  RC_ASSERT(next.tag() % count == (entry.tag() + 1) % count);
  RC_ASSERT(next.tag() / count == entry.tag() / count);
  RC_ASSERT(next.reference() == entry.reference());
  RC_ASSERT(next.is_locked() == entry.is_locked());
  RC_ASSERT(next.is_deleted() == entry.is_deleted());
}

RC_GTEST_PROP(Entry, PointingElsewhereKeepsTheTagAndClearsBothFlags,
              (std::uint64_t word, std::uint32_t reference)) {
  const Entry entry = Entry(word).pointing_to(reference);
  RC_ASSERT(entry.reference() == reference);
  RC_ASSERT(entry.tag() == Entry(word).tag());
  RC_ASSERT(!entry.is_locked() && !entry.is_deleted());
}

RC_GTEST_PROP(Entry, MovingTheContainerKeepsTagAndFlags,
              (std::uint64_t word, std::uint32_t reference)) {
  const Entry entry = Entry(word).moved_to(reference);
  RC_ASSERT(entry.reference() == reference);
  RC_ASSERT(entry.moved_to(Entry(word).reference()) == Entry(word));
}

RC_GTEST_PROP(Entry, FlagsAndTagsAreChangedOneAtATime,
              (std::uint64_t word, std::uint64_t other_word)) {
  const Entry entry(word);
  RC_ASSERT(entry.with_deleted().is_deleted());
  RC_ASSERT((entry.with_deleted().word() | 1) == (word | 1));
  RC_ASSERT(entry.with_locked().is_locked());
  RC_ASSERT((entry.with_locked().word() | 2) == (word | 2));
  const Entry moved = entry.with_tag_of(Entry(other_word));
  RC_ASSERT(moved.tag() == Entry(other_word).tag());
  RC_ASSERT(moved.with_tag_of(entry) == entry);
}

// Checksum

// The standard form of CRC-32C inverts its result.
std::uint32_t inverted_crc32c(std::span<const std::byte> bytes) { return ~crc32c(bytes); }

TEST(Crc32c, HasTheCheckValueOfTheCatalogue) {
  constexpr std::string_view digits = "123456789";
  EXPECT_EQ(inverted_crc32c(std::as_bytes(std::span(digits))), 0xe306'9283U);
}

// From RFC 3720, appendix B.4.
TEST(Crc32c, AgreesWithTheExamplesOfIscsi) {
  std::vector<std::byte> bytes = ascending_bytes(32);
  EXPECT_EQ(inverted_crc32c(bytes), 0x46dd'794eU);
  std::ranges::reverse(bytes);
  EXPECT_EQ(inverted_crc32c(bytes), 0x113f'db5cU);
  std::ranges::fill(bytes, std::byte{0});
  EXPECT_EQ(inverted_crc32c(bytes), 0x8a91'36aaU);
  std::ranges::fill(bytes, std::byte{0xff});
  EXPECT_EQ(inverted_crc32c(bytes), 0x62a8'ab43U);
}

TEST(Crc32c, OfNothingIsTheSeed) { EXPECT_EQ(crc32c({}), crc32c_seed); }

RC_GTEST_PROP(Crc32c, IsTheSameInPieces, (const std::vector<std::uint8_t>& values)) {
  const auto bytes = std::as_bytes(std::span(values));
  const std::size_t cut = *rc::gen::inRange<std::size_t>(0, bytes.size() + 1);
  RC_ASSERT(crc32c(bytes.subspan(cut), crc32c(bytes.first(cut))) == crc32c(bytes));
}

// Hash of keys

// The table is so large that the slot is the whole hash.
constexpr std::uint64_t all_hashes = std::numeric_limits<std::uint64_t>::max();

HashKey ascending_hash_key() {
  HashKey hash_key;
  std::ranges::copy(ascending_bytes(hash_key.size()), hash_key.begin());
  return hash_key;
}

// The vectors of the reference implementation: the key is 00 01 .. 0f, and inputs are prefixes of
// 00 01 ...
TEST(HomeSlot, IsSipHash24) {
  constexpr std::array<std::uint64_t, 16> expected{
      0x726f'db47'dd0e'0e31, 0x74f8'39c5'93dc'67fd, 0x0d6c'8009'd9a9'4f5a, 0x8567'6696'd7fb'7e2d,
      0xcf27'94e0'2771'87b7, 0x1876'5564'cd99'a68d, 0xcbc9'466e'58fe'e3ce, 0xab02'00f5'8b01'd137,
      0x93f5'f579'9a93'2462, 0x9e00'82df'0ba9'e4b0, 0x7a5d'bbc5'94dd'b9f3, 0xf4b3'2f46'226b'ada7,
      0x751e'8fbc'860e'e5fb, 0x14ea'5627'c084'3d90, 0xf723'ca90'8e7a'f2ee, 0xa129'ca61'49be'45e5};
  for (std::size_t length = 0; length < expected.size(); ++length) {
    EXPECT_EQ(home_slot(ascending_bytes(length), ascending_hash_key(), all_hashes),
              expected[length])
        << length;
  }
}

RC_GTEST_PROP(HomeSlot, IsInTheTable, (const std::vector<std::uint8_t>& key)) {
  const std::uint64_t table_entries = *rc::gen::inRange<std::uint64_t>(1, 20);
  RC_ASSERT(home_slot(std::as_bytes(std::span(key)), ascending_hash_key(), table_entries) <
            table_entries);
}

TEST(HomeSlot, FollowsFromTheSecret) {
  HashKey other = ascending_hash_key();
  other.back() ^= std::byte{1};
  const std::vector<std::byte> key = ascending_bytes(8);
  EXPECT_NE(home_slot(key, other, all_hashes), home_slot(key, ascending_hash_key(), all_hashes));
}

// Layout of the chunk

Geometry arbitrary_geometry() {
  Geometry geometry;
  geometry.unit_bytes = *rc::gen::element(8U, 64U);
  geometry.table_entries = *rc::gen::inRange<std::uint64_t>(1, 5'000);
  geometry.region_count = *rc::gen::inRange<std::uint64_t>(1, 50);
  const auto units = rc::gen::inRange<std::uint64_t>(4, 1'000);
  geometry.region_bytes = *units * geometry.unit_bytes;
  geometry.mature_bytes = geometry.region_bytes + *units * geometry.unit_bytes;
  geometry.mature_space_count =
      *rc::gen::oneOf(rc::gen::just(semi_space_count), rc::gen::inRange(fewest_blocks, 50U));
  geometry.fingerprint_bits = *rc::gen::inRange(0U, most_fingerprint_bits + 1);
  geometry.size_class_bits = *rc::gen::inRange(0U, most_size_class_bits + 1);
  geometry.most_tables = *rc::gen::element(1U, 1U, 2U, 5U);
  return geometry;
}

// Start and length of every part of the chunk, in order.
std::vector<std::pair<std::uint64_t, std::uint64_t>> parts_of(const Geometry& geometry) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;
  parts.emplace_back(0, superblock_bytes);
  parts.emplace_back(Geometry::status_line_offset(), status_line_bytes);
  parts.emplace_back(Geometry::stand_in_offset(), stand_in_bytes);
  parts.emplace_back(Geometry::table_offset(), geometry.table_entries * entry_bytes);
  for (std::uint64_t region = 0; region < geometry.region_count; ++region) {
    parts.emplace_back(geometry.region_offset(region), geometry.region_bytes);
  }
  for (std::uint32_t space = 0; space < geometry.mature_space_count; ++space) {
    parts.emplace_back(geometry.mature_offset(space), geometry.mature_bytes);
  }
  if (geometry.can_grow()) {
    parts.emplace_back(geometry.later_tables_offset(), geometry.later_tables_bytes());
  }
  return parts;
}

RC_GTEST_PROP(Geometry, PartsFollowEachOtherWithGapsOfLessThanAnAlignment, ()) {
  const Geometry geometry = arbitrary_geometry();
  RC_ASSERT(!find_invalid_geometry(geometry));
  std::uint64_t end = 0;
  for (const auto& [start, length] : parts_of(geometry)) {
    RC_ASSERT(start >= end && start - end < alignment_bytes);
    RC_ASSERT(start % geometry.unit_bytes == 0);
    end = start + length;
  }
  RC_ASSERT(geometry.chunk_bytes() >= end && geometry.chunk_bytes() - end < alignment_bytes);
}

RC_GTEST_PROP(Geometry, SpacesAreAligned, ()) {
  const Geometry geometry = arbitrary_geometry();
  RC_ASSERT(geometry.region_offset(0) % alignment_bytes == 0U);
  RC_ASSERT(geometry.mature_offset(0) % alignment_bytes == 0U);
  RC_ASSERT(geometry.mature_offset(1) % alignment_bytes == 0U);
  RC_ASSERT(geometry.chunk_bytes() % alignment_bytes == 0U);
}

RC_GTEST_PROP(Geometry, MatureSpacesAreFoundByTheirPlaces, ()) {
  const Geometry geometry = arbitrary_geometry();
  RC_ASSERT(!geometry.mature_space_at(geometry.mature_offset(0) - 1));
  RC_ASSERT(!geometry.mature_space_at(geometry.chunk_bytes()));
  const auto space = *rc::gen::inRange(0U, geometry.mature_space_count);
  const std::uint64_t begin = geometry.mature_offset(space);
  RC_ASSERT(geometry.mature_space_at(begin) == space);
  RC_ASSERT(geometry.mature_space_at(begin + geometry.mature_bytes - 1) == space);
  const auto behind = geometry.mature_space_at(begin + geometry.mature_bytes);
  RC_ASSERT(behind != space);
}

RC_GTEST_PROP(Geometry, UnitsReachEveryPlaceOfAContainer, ()) {
  const Geometry geometry = arbitrary_geometry();
  const std::uint64_t first = geometry.region_offset(0);
  const std::uint64_t last = geometry.mature_end() - container_header_bytes;
  const std::uint64_t offset =
      *rc::gen::inRange(first, last + 1) / geometry.unit_bytes * geometry.unit_bytes;
  RC_ASSERT(geometry.may_hold_container(offset));
  RC_ASSERT(geometry.to_offset(geometry.to_units(offset)) == offset);
  RC_ASSERT(geometry.to_units(offset) != 0U);
  RC_ASSERT(geometry.may_hold_container(first) && geometry.may_hold_container(last));
  RC_ASSERT(geometry.may_hold_container(Geometry::stand_in_offset()));
  RC_ASSERT(!geometry.may_hold_container(first - 1));
  RC_ASSERT(!geometry.may_hold_container(last + 1));
}

RC_GTEST_PROP(Geometry, SlotsAreNumberedThroughAllTables, ()) {
  const Geometry geometry = arbitrary_geometry();
  const auto table = *rc::gen::inRange(0U, geometry.most_tables);
  const std::uint64_t first = geometry.first_slot(table);
  RC_ASSERT(geometry.first_slot(table + 1) - first == geometry.table_entries << table);
  const auto slot = *rc::gen::inRange(first, geometry.first_slot(table + 1));
  RC_ASSERT(geometry.table_of(slot) == table);
  RC_ASSERT(geometry.slot_at(geometry.entry_offset(slot)) == slot);
  RC_ASSERT(geometry.entry_offset(slot) - geometry.entry_offset(first) == (slot - first) * 8);
  RC_ASSERT(!geometry.slot_at(Geometry::table_offset() - 1));
  RC_ASSERT(!geometry.slot_at(geometry.region_offset(0)));
  RC_ASSERT(!geometry.slot_at(geometry.chunk_bytes()));
}

RC_GTEST_PROP(Geometry, RoundsUpToWholeUnits, (std::uint32_t bytes)) {
  const Geometry geometry = arbitrary_geometry();
  const std::uint64_t rounded = geometry.round_up_to_unit(bytes);
  RC_ASSERT(rounded % geometry.unit_bytes == 0U);
  RC_ASSERT(rounded >= bytes && rounded - bytes < geometry.unit_bytes);
}

TEST(Geometry, TableEntriesLieSideBySide) {
  const Geometry geometry{.table_entries = 3};
  const std::uint64_t start = superblock_bytes + status_line_bytes + stand_in_bytes;
  EXPECT_EQ(geometry.entry_offset(0), start);
  EXPECT_EQ(geometry.entry_offset(2), start + 2 * entry_bytes);
}

void expect_refused(const Geometry& geometry, std::string_view field) {
  const auto problem = find_invalid_geometry(geometry);
  ASSERT_TRUE(problem) << field;
  EXPECT_TRUE(problem->starts_with(field)) << *problem;
}

TEST(Geometry, ValuesOutOfRangeAreNamed) {
  constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
  for (const std::uint32_t unit_bytes : {0U, 1U, 16U, 128U}) {
    expect_refused({.unit_bytes = unit_bytes}, "unit_bytes");
  }
  for (const std::uint64_t entries : {std::uint64_t{0}, all_hashes, 32 * gibibyte + 1}) {
    expect_refused({.table_entries = entries}, "table_entries");
  }
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{65'537}, all_hashes}) {
    expect_refused({.region_count = count}, "region_count");
  }
  for (const std::uint64_t bytes : {0UL, 24UL, 65'537UL, 32 * gibibyte, all_hashes - 7}) {
    expect_refused({.region_bytes = bytes}, "region_bytes");
  }
  for (const std::uint64_t bytes : {0UL, 65'528UL, 1'048'577UL, 256 * gibibyte + 8}) {
    expect_refused({.mature_bytes = bytes}, "mature_bytes");
  }
  for (const std::uint32_t count : {0U, 1U, 3U, 1U << 19U}) {
    expect_refused({.mature_space_count = count}, "mature_space_count");
  }
  for (const std::uint32_t tag_bits : {0U, 31U, 32U}) {
    expect_refused({.tag_bits = tag_bits}, "tag_bits");
  }
  EXPECT_FALSE(find_invalid_geometry({}));
}

TEST(Geometry, UnitsOf64ReachEightTimesAsFar) {
  constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
  Geometry geometry{.mature_bytes = 16 * gibibyte};
  expect_refused(geometry, "the chunk has");
  geometry.unit_bytes = 64;
  EXPECT_FALSE(find_invalid_geometry(geometry));
  geometry.mature_bytes = 128 * gibibyte;
  expect_refused(geometry, "the chunk has");
}

TEST(Geometry, LargestChunkOfUnitsOf8IsOf32GiB) {
  constexpr std::uint64_t reach = std::uint64_t{1} << 35;
  Geometry geometry;
  const std::uint64_t without_mature = geometry.mature_offset(0);
  geometry.mature_bytes = (reach - without_mature) / 2 / alignment_bytes * alignment_bytes;
  EXPECT_FALSE(find_invalid_geometry(geometry));
  EXPECT_EQ(geometry.to_units(geometry.chunk_bytes() - 64), (geometry.chunk_bytes() - 64) / 8);
  geometry.mature_bytes += alignment_bytes;
  expect_refused(geometry, "the chunk has");
}

}  // namespace
}  // namespace falafel::engine
