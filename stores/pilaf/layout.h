// The bytes of the server's two registered areas (Pilaf 3.2, 3.3). README.md has them as a table.
//
// Both structures verify themselves: an entry contains a checksum of itself, and the pointer in it
// contains a checksum of the extent. A client thereby notices that the server changed one of them
// while it was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::pilaf {

// A pointer to an extent: where it is, how long it is, and the checksum of what is there.
struct ExtentPointer {
  std::uint64_t offset = 0;  // from the start of the extents
  std::uint32_t bytes = 0;
  std::uint64_t crc = 0;

  friend bool operator==(const ExtentPointer&, const ExtentPointer&) = default;
};

// Bits of Entry::flags.
inline constexpr std::uint32_t in_use_flag = 1;
// Linear probing only: the slot has been in use, so keys may be stored behind it.
inline constexpr std::uint32_t emptied_flag = 2;
// Only with Safeguards::absence_validation: the other bits count the changes of the slot.
inline constexpr std::uint32_t first_count_bit = 2;

struct Entry {
  std::uint32_t flags = 0;
  std::uint32_t extent_bytes = 0;
  std::uint64_t extent_offset = 0;
  std::uint64_t extent_crc = 0;
  std::uint64_t entry_crc = 0;

  bool is_in_use() const { return (flags & in_use_flag) != 0; }
  bool was_emptied() const { return (flags & emptied_flag) != 0; }
  std::uint32_t changes() const { return flags >> first_count_bit; }
  ExtentPointer pointer() const {
    return {.offset = extent_offset, .bytes = extent_bytes, .crc = extent_crc};
  }
  bool verifies() const;

  friend bool operator==(const Entry&, const Entry&) = default;
};
inline constexpr std::uint32_t entry_bytes = 32;
static_assert(sizeof(Entry) == entry_bytes);
static_assert(offsetof(Entry, extent_bytes) == 4);
static_assert(offsetof(Entry, extent_offset) == 8);
static_assert(offsetof(Entry, extent_crc) == 16);
static_assert(offsetof(Entry, entry_crc) == 24);

// Entries with the right checksum. `changes` wraps around.
Entry make_entry(const ExtentPointer& pointer, std::uint32_t changes = 0);
Entry make_empty_entry(bool was_emptied = false, std::uint32_t changes = 0);

// An extent: this header, the key, the value, and zeros up to a multiple of a word.
struct ExtentHeader {
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;
};
inline constexpr std::uint32_t extent_header_bytes = 8;
static_assert(sizeof(ExtentHeader) == extent_header_bytes);
static_assert(offsetof(ExtentHeader, value_bytes) == 4);

constexpr std::uint64_t extent_bytes_of(std::uint64_t key_bytes, std::uint64_t value_bytes) {
  const std::uint64_t bytes = extent_header_bytes + key_bytes + value_bytes;
  return (bytes + fabric::word_bytes - 1) / fabric::word_bytes * fabric::word_bytes;
}

std::vector<std::byte> make_extent(std::span<const std::byte> key,
                                   std::span<const std::byte> value);

struct ExtentView {
  std::span<const std::byte> key;
  std::span<const std::byte> value;
};
// Nothing if the lengths do not fit: what was read may be anything.
std::optional<ExtentView> parse_extent(std::span<const std::byte> extent);

// The places of the two areas in the server's memory block, and the hash of keys.
struct Geometry {
  std::uint64_t table_entries = 0;
  std::uint64_t extents_bytes = 0;
  std::uint64_t hash_seed = 0;

  std::uint64_t table_bytes() const { return table_entries * entry_bytes; }
  std::uint64_t extents_offset() const { return table_bytes(); }
  std::uint64_t block_bytes() const { return table_bytes() + extents_bytes; }
  static std::uint64_t entry_offset(std::uint64_t slot) { return slot * entry_bytes; }
  std::uint64_t extent_offset(const ExtentPointer& pointer) const {
    return extents_offset() + pointer.offset;
  }
};

}  // namespace falafel::pilaf
