// Where things lie in the server's chunk of memory:
//
//   superblock | status line | stand-in | table | regions 0, 1, ... | mature spaces 0, 1
//
// One contiguous chunk, so that a 32-bit offset in an entry reaches all of it (Behringer 4.2.2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace falafel::engine {

inline constexpr std::uint64_t superblock_bytes = 128;
inline constexpr std::uint64_t status_line_bytes = 64;
inline constexpr std::uint64_t stand_in_bytes = 64;
inline constexpr std::uint32_t mature_space_count = 2;
inline constexpr std::uint64_t alignment_bytes = 64;

struct Geometry {
  std::uint32_t unit_bytes = 8;  // what offsets count: 8 reaches 32 GiB, 64 reaches 256 GiB
  std::uint64_t table_entries = 1'024;
  std::uint64_t region_bytes = 65'536;  // of one client's region, a multiple of unit_bytes
  std::uint64_t region_count = 16;
  std::uint64_t mature_bytes = 1'048'576;  // of each mature space, a multiple of unit_bytes
  // What an entry's tag counts with, 1 to 30: it repeats after 2^tag_bits changes, and no operation may
  // last so long (docs/protocol.md, "The table"). Fewer than 30 are for tests of that.
  std::uint32_t tag_bits = 30;

  static constexpr std::uint64_t status_line_offset() { return superblock_bytes; }
  // A container with a key of no bytes, which no client asks for. A deleted entry without a key points
  // here, be there as many as there may.
  static constexpr std::uint64_t stand_in_offset() {
    return status_line_offset() + status_line_bytes;
  }
  static constexpr std::uint64_t table_offset() { return stand_in_offset() + stand_in_bytes; }
  std::uint64_t entry_offset(std::uint64_t slot) const;
  std::uint64_t region_offset(std::uint64_t region) const;
  std::uint64_t mature_offset(std::uint32_t space) const;
  std::uint64_t chunk_bytes() const;

  std::uint64_t round_up_to_unit(std::uint64_t bytes) const;
  std::uint32_t to_units(std::uint64_t offset) const;
  std::uint64_t to_offset(std::uint32_t units) const { return std::uint64_t{units} * unit_bytes; }
  // What an offset may point to: the stand-in, or room for a header behind the table.
  bool may_hold_container(std::uint64_t offset) const;

  friend bool operator==(const Geometry&, const Geometry&) = default;
};

// What is wrong with it, as a message that names the field and its range.
std::optional<std::string> find_invalid_geometry(const Geometry& geometry);

}  // namespace falafel::engine
