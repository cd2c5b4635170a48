// The superblock: the first bytes of the chunk. A client reads it after connecting and derives
// everything it knows about the chunk from it.
//
//   byte   0  u64  magic, "FALAFEL" and a zero byte
//          8  u32  version: growing_layout_version if the table can grow, or
//                  growing_cache_layout_version if it can and the store is a cache; otherwise
//                  cache_layout_version if the store is a cache, otherwise
//                  reference_layout_version if one of the last two numbers of bits is not 0,
//                  otherwise layout_version
//         12  u32  unit_bytes
//         16  u64  chunk_bytes
//         24  u64  offset of the table
//         32  u64  table_entries
//         40  u64  offset of region 0
//         48  u64  region_bytes
//         56  u64  region_count
//         64  u64  offset of mature space 0
//         72  u64  mature_bytes
//         80  u64  offset of mature space 1; as many spaces follow at this distance as fill the
//                  chunk
//         88  16 B key of the hash
//        104  u64  incarnation: a number that identifies the content of the chunk
//        112  u32  tag_bits
//        116  u32  fingerprint_bits
//        120  u16  size_class_bits
//        122  u16  how many later tables there is room for
//        124  u32  CRC-32C of bytes 0..123
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/layout/geometry.h"
#include "engine/layout/key_hash.h"
#include "fabric/fabric.h"

namespace falafel::engine {

inline constexpr std::uint64_t superblock_magic = 0x004c'4546'414c'4146;  // "FALAFEL"
// The version of a store whose entries have neither fingerprints nor size classes.
inline constexpr std::uint32_t layout_version = 2;
// The version of a store whose entries have them. A client that does not know them refuses the
// store.
inline constexpr std::uint32_t reference_layout_version = 3;
// The version of a cache, whose values begin with the time at which they expire, with or without
// these bits.
inline constexpr std::uint32_t cache_layout_version = 4;
// The versions of a store and of a cache whose table can grow, with or without these bits. A client
// that looks for keys in one table only refuses them.
inline constexpr std::uint32_t growing_layout_version = 5;
inline constexpr std::uint32_t growing_cache_layout_version = 6;
inline constexpr std::uint32_t latest_layout_version = growing_cache_layout_version;

struct Superblock {
  std::uint64_t magic = superblock_magic;
  std::uint32_t version = layout_version;
  std::uint32_t unit_bytes = 0;
  std::uint64_t chunk_bytes = 0;
  std::uint64_t table_offset = 0;
  std::uint64_t table_entries = 0;
  std::uint64_t regions_offset = 0;
  std::uint64_t region_bytes = 0;
  std::uint64_t region_count = 0;
  std::uint64_t mature_0_offset = 0;
  std::uint64_t mature_bytes = 0;
  std::uint64_t mature_1_offset = 0;
  HashKey hash_key{};
  std::uint64_t incarnation = 0;
  std::uint32_t tag_bits = 0;
  std::uint32_t fingerprint_bits = 0;
  std::uint16_t size_class_bits = 0;
  std::uint16_t later_tables = 0;
  std::uint32_t crc = 0;
};
static_assert(sizeof(Superblock) == superblock_bytes);
static_assert(offsetof(Superblock, chunk_bytes) == 16);
static_assert(offsetof(Superblock, table_entries) == 32);
static_assert(offsetof(Superblock, region_bytes) == 48);
static_assert(offsetof(Superblock, mature_0_offset) == 64);
static_assert(offsetof(Superblock, hash_key) == 88);
static_assert(offsetof(Superblock, incarnation) == 104);
static_assert(offsetof(Superblock, tag_bits) == 112);
static_assert(offsetof(Superblock, size_class_bits) == 120);
static_assert(offsetof(Superblock, later_tables) == 122);
static_assert(offsetof(Superblock, crc) == 124);

Superblock make_superblock(const Geometry& geometry, const HashKey& hash_key,
                           std::uint64_t incarnation);

// Errors: invalid_argument, with a message that names the problem: magic, version, checksum, an
// invalid geometry, or one that differs from `chunk_bytes`, the size that the server announced at
// connection.
fabric::Result<Superblock> parse_superblock(std::span<const std::byte> bytes,
                                            std::uint64_t chunk_bytes);
// The number of mature spaces follows from the size of the chunk.
Geometry geometry_of(const Superblock& superblock);

}  // namespace falafel::engine
