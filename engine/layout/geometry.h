// The layout of the server's chunk of memory:
//
//   superblock | status line | stand-in | table | regions 0, 1, ... | mature spaces 0, 1, ... |
//   later tables
//
// Only a store whose table can grow has room for later tables (docs/protocol.md, "A table that
// grows"). No entry points there, so offsets in entries do not reach them.
//
// The chunk is contiguous, so an offset of up to 32 bits in an entry reaches all of it (Behringer
// 4.2.2). A smaller chunk leaves bits for a fingerprint and a size class
// (engine/layout/references.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/layout/entry.h"

namespace falafel::engine {

inline constexpr std::uint64_t superblock_bytes = 128;
inline constexpr std::uint64_t status_line_bytes = 64;
inline constexpr std::uint64_t stand_in_bytes = 64;
// Two mature spaces are the semi-spaces of the thesis. More are blocks, of which most may be full.
inline constexpr std::uint32_t semi_space_count = 2;
inline constexpr std::uint32_t fewest_blocks = 4;
inline constexpr std::uint64_t alignment_bytes = 64;
inline constexpr std::uint32_t reference_bits = 32;
inline constexpr std::uint32_t most_fingerprint_bits = 8;
inline constexpr std::uint32_t most_size_class_bits = 3;
inline constexpr std::uint64_t expiry_bytes = 8;
inline constexpr std::uint32_t most_tables_of_a_store = 32;

struct Geometry {
  std::uint32_t unit_bytes = 8;  // unit of offsets in entries: 8 reaches 32 GiB, 64 reaches 256 GiB
  std::uint64_t table_entries = 1'024;  // length of the first table
  std::uint64_t region_bytes = 65'536;  // size of one client's region, a multiple of unit_bytes
  std::uint64_t region_count = 16;
  std::uint64_t mature_bytes = 1'048'576;  // size of each mature space, a multiple of unit_bytes
  // semi_space_count, or at least fewest_blocks
  std::uint32_t mature_space_count = semi_space_count;
  // The number of bits in an entry's tag, 1 to 30. The tag repeats after 2^tag_bits changes, and no
  // operation may last that long (docs/protocol.md, "The table"). Fewer than 30 bits are for tests
  // of that rule.
  std::uint32_t tag_bits = 30;
  // The bits of an entry that say more of its container than its place; 0: none.
  std::uint32_t fingerprint_bits = 0;
  std::uint32_t size_class_bits = 0;
  // The store is a cache: each value begins with the time at which it expires
  // (engine/layout/expiry.h).
  bool values_expire = false;
  // How many tables there is room for. Each is twice as long as the one before. 1: the table does
  // not grow.
  std::uint32_t most_tables = 1;

  static constexpr std::uint64_t status_line_offset() { return superblock_bytes; }
  // A container with an empty key, which no client requests. All deleted entries without a key
  // point to it.
  static constexpr std::uint64_t stand_in_offset() {
    return status_line_offset() + status_line_bytes;
  }
  static constexpr std::uint64_t table_offset() { return stand_in_offset() + stand_in_bytes; }
  // Slots are numbered through all tables: those of the first table, then those of the next.
  bool can_grow() const { return most_tables > 1; }
  std::uint64_t entries_of(std::uint32_t table) const { return table_entries << table; }
  std::uint64_t first_slot(std::uint32_t table) const {
    return table_entries * ((std::uint64_t{1} << table) - 1);
  }
  std::uint64_t slot_count() const { return first_slot(most_tables); }
  std::uint32_t table_of(std::uint64_t slot) const;
  std::uint64_t later_tables_offset() const { return mature_end(); }
  std::uint64_t later_tables_bytes() const { return (slot_count() - table_entries) * entry_bytes; }
  std::uint64_t entry_offset(std::uint64_t slot) const;
  // The slot whose entry is at that offset, if any.
  std::optional<std::uint64_t> slot_at(std::uint64_t offset) const;
  std::uint64_t region_offset(std::uint64_t region) const;
  std::uint64_t mature_offset(std::uint32_t space) const;
  // The mature space at that offset, if any.
  std::optional<std::uint32_t> mature_space_at(std::uint64_t offset) const;
  std::uint64_t mature_end() const { return mature_offset(mature_space_count); }
  bool has_blocks() const { return mature_space_count != semi_space_count; }
  std::uint64_t chunk_bytes() const;

  std::uint64_t round_up_to_unit(std::uint64_t bytes) const;
  std::uint32_t to_units(std::uint64_t offset) const;
  // The offset of the container to which an entry with this reference points.
  std::uint64_t to_offset(std::uint32_t reference) const;
  // The bits of a reference that have the offset.
  std::uint32_t offset_bits() const { return reference_bits - fingerprint_bits - size_class_bits; }
  // How many bytes of a value are not the caller's.
  std::uint64_t value_prefix_bytes() const { return values_expire ? expiry_bytes : 0; }
  // Returns whether an entry may point to this offset: the stand-in, or an offset in a region or a
  // mature space with room for a header.
  bool may_hold_container(std::uint64_t offset) const;

  friend bool operator==(const Geometry&, const Geometry&) = default;
};

// Returns an error message that names the invalid field and its range; nullopt: the geometry is
// valid.
std::optional<std::string> find_invalid_geometry(const Geometry& geometry);

// How many bits of an entry have a size class and a fingerprint; absent: as many as are spare.
struct SpareBits {
  std::optional<std::uint32_t> size_class{};
  std::optional<std::uint32_t> fingerprint{};
};

// The same geometry, in which entries use the bits that offsets in this chunk do not need: first
// for a size class, then for a fingerprint. A number that is given may be too large for the chunk.
Geometry with_spare_bits(Geometry geometry, const SpareBits& bits = {});

}  // namespace falafel::engine
