// The bytes of the memory node: the directory, and then a heap of subtables and of segments for
// key-value blocks. README.md has them as tables, with their sources.
//
// A bucket is a header and slots. A group has three buckets: main, overflow, main. The first two of
// them, and the last two, are its combined buckets, so one READ fetches a main bucket together with
// the overflow bucket that it shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::race {

using Bytes = std::vector<std::byte>;

// Blocks are allocated in units, and a slot has the length of its block in units.
inline constexpr std::uint64_t unit_bytes = 64;
inline constexpr std::uint64_t most_block_units = 255;

// -------------------------------------------------------------------------------------------------
// Slots

// The fields of a slot's word. The word of an empty slot is zero; any other has a length.
struct Slot {
  std::uint64_t fingerprint = 0;  // 8 bits
  std::uint64_t units = 0;        // 8 bits
  bool is_tentative = false;      // Safeguards::tentative_inserts
  bool is_frozen = false;         // Safeguards::frozen_moves
  std::uint64_t tag = 0;          // 14 bits; Safeguards::block_tags
  std::uint64_t unit = 0;         // 32 bits: the place of the block, in units

  std::uint64_t offset() const { return unit * unit_bytes; }
  friend bool operator==(const Slot&, const Slot&) = default;
};

inline constexpr std::uint64_t empty_slot = 0;
inline constexpr unsigned unit_bits = 32;
inline constexpr unsigned tag_bits = 14;
inline constexpr unsigned frozen_shift = unit_bits + tag_bits;
inline constexpr unsigned tentative_shift = frozen_shift + 1;
inline constexpr unsigned units_shift = tentative_shift + 1;
inline constexpr unsigned fingerprint_shift = units_shift + 8;
static_assert(tentative_shift == 47 && units_shift == 48 && fingerprint_shift == 56);

inline constexpr std::uint64_t tag_limit = std::uint64_t{1} << tag_bits;

constexpr std::uint64_t encode(const Slot& slot) {
  return slot.fingerprint << fingerprint_shift | slot.units << units_shift |
         std::uint64_t{slot.is_tentative} << tentative_shift |
         std::uint64_t{slot.is_frozen} << frozen_shift | slot.tag << unit_bits | slot.unit;
}
constexpr Slot decode(std::uint64_t word) {
  return {.fingerprint = word >> fingerprint_shift,
          .units = word >> units_shift & 0xff,
          .is_tentative = (word >> tentative_shift & 1) != 0,
          .is_frozen = (word >> frozen_shift & 1) != 0,
          .tag = word >> unit_bits & (tag_limit - 1),
          .unit = word & 0xffff'ffff};
}
static_assert(
    decode(encode({.fingerprint = 255, .units = 7, .is_tentative = true, .tag = 9, .unit = 3})) ==
    Slot{.fingerprint = 255, .units = 7, .is_tentative = true, .tag = 9, .unit = 3});

// The same word while a split moves its slot.
inline constexpr std::uint64_t frozen_bit = std::uint64_t{1} << frozen_shift;
constexpr std::uint64_t frozen(std::uint64_t word) { return word | frozen_bit; }
constexpr std::uint64_t thawed(std::uint64_t word) { return word & ~frozen_bit; }

// A slot of a new subtable that waits for the one at the same place of the old subtable. It has no
// block, and is not empty.
inline constexpr std::uint64_t reserved_slot = frozen_bit;
constexpr bool has_block(std::uint64_t word) { return decode(word).units != 0; }

// -------------------------------------------------------------------------------------------------
// Buckets and subtables

// The header of a bucket: the depth of its subtable, and the bits that end the hashes of its keys.
struct BucketHeader {
  std::uint32_t local_depth = 0;
  std::uint32_t suffix = 0;

  friend bool operator==(const BucketHeader&, const BucketHeader&) = default;
};
static_assert(sizeof(BucketHeader) == fabric::word_bytes);

inline constexpr std::uint64_t buckets_per_group = 3;
inline constexpr std::uint64_t buckets_per_combined = 2;

class SubtableLayout {
 public:
  SubtableLayout() = default;
  SubtableLayout(std::uint64_t groups, std::uint64_t slots_per_bucket)
      : groups_(groups), slots_per_bucket_(slots_per_bucket) {}

  std::uint64_t groups() const { return groups_; }
  std::uint64_t slots_per_bucket() const { return slots_per_bucket_; }
  std::uint64_t buckets() const { return groups_ * buckets_per_group; }
  // Choices of a key: each group has two combined buckets.
  std::uint64_t combined_buckets() const { return groups_ * 2; }
  std::uint64_t slots() const { return buckets() * slots_per_bucket_; }

  std::uint64_t bucket_bytes() const { return (1 + slots_per_bucket_) * fabric::word_bytes; }
  std::uint64_t combined_bytes() const { return buckets_per_combined * bucket_bytes(); }
  std::uint64_t bytes() const { return buckets() * bucket_bytes(); }
  // From the start of the subtable.
  std::uint64_t bucket_offset(std::uint64_t bucket) const { return bucket * bucket_bytes(); }
  std::uint64_t combined_offset(std::uint64_t combined) const {
    return bucket_offset(combined / 2 * buckets_per_group + combined % 2);
  }
  // The main bucket of a combined bucket is its first or its second one.
  static std::uint64_t main_bucket(std::uint64_t combined) { return combined % 2; }
  // From the start of a bucket.
  static std::uint64_t slot_offset(std::uint64_t slot) { return (1 + slot) * fabric::word_bytes; }

 private:
  std::uint64_t groups_ = 0;
  std::uint64_t slots_per_bucket_ = 0;
};

// -------------------------------------------------------------------------------------------------
// The directory

inline constexpr std::uint32_t most_depth = 16;

// The state of an entry within one local depth. An entry passes through them in this order, and
// then its depth grows, so none of its words occurs twice.
enum class EntryState : std::uint8_t {
  prepared,  // it leads to a new subtable that is not in use yet
  moving,    // slots move from the old subtable to the new one
  settled,
};

// An entry of the directory, one word.
struct DirectoryEntry {
  EntryState state = EntryState::settled;
  std::uint64_t local_depth = 0;
  std::uint64_t subtable = 0;  // its offset, 48 bits

  friend bool operator==(const DirectoryEntry&, const DirectoryEntry&) = default;
};
constexpr std::uint64_t encode(const DirectoryEntry& entry) {
  return entry.subtable << 16 | entry.local_depth << 8 | static_cast<std::uint64_t>(entry.state);
}
constexpr DirectoryEntry decode_entry(std::uint64_t word) {
  return {.state = static_cast<EntryState>(word & 0xff),
          .local_depth = word >> 8 & 0xff,
          .subtable = word >> 16};
}
static_assert(decode_entry(encode(DirectoryEntry{EntryState::moving, 3, 4'096})) ==
              DirectoryEntry{EntryState::moving, 3, 4'096});
// The depth of the last split of this entry that is over. The global depth is at least that.
constexpr std::uint64_t settled_depth(std::uint64_t word) {
  const DirectoryEntry entry = decode_entry(word);
  return entry.local_depth - (entry.state == EntryState::settled ? 0 : 1);
}
// `entry` has this depth and state, or has had them.
constexpr bool has_reached(const DirectoryEntry& entry, const DirectoryEntry& other) {
  return entry.local_depth > other.local_depth ||
         (entry.local_depth == other.local_depth && entry.state >= other.state);
}

// The places of all parts of the memory.
struct Geometry {
  SubtableLayout subtable;
  std::uint32_t most_depth = 0;  // of the directory
  std::uint64_t heap_bytes = 0;

  static constexpr std::uint64_t depth_offset = 0;  // the word with the global depth
  static constexpr std::uint64_t entries_offset = unit_bytes;
  static std::uint64_t entry_offset(std::uint64_t index) {
    return entries_offset + index * fabric::word_bytes;
  }
  std::uint64_t most_entries() const { return std::uint64_t{1} << most_depth; }
  std::uint64_t heap_offset() const {
    return (entry_offset(most_entries()) + unit_bytes - 1) / unit_bytes * unit_bytes;
  }
  std::uint64_t block_bytes() const { return heap_offset() + heap_bytes; }
};

// -------------------------------------------------------------------------------------------------
// Key-value blocks

// The front of a block. The key follows, then the value, then zeros up to a word.
struct BlockHeader {
  std::uint64_t crc = 0;  // of all that follows
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;
  std::uint64_t tag = 0;  // that of the slot; zero as published
};
static_assert(sizeof(BlockHeader) == 24);
static_assert(offsetof(BlockHeader, key_bytes) == 8);
static_assert(offsetof(BlockHeader, value_bytes) == 12);
static_assert(offsetof(BlockHeader, tag) == 16);

std::uint64_t block_bytes_of(std::uint64_t key_bytes, std::uint64_t value_bytes);
constexpr std::uint64_t units_of(std::uint64_t bytes) {
  return (bytes + unit_bytes - 1) / unit_bytes;
}

Bytes make_block(std::span<const std::byte> key, std::span<const std::byte> value,
                 std::uint64_t tag);

struct BlockView {
  std::uint64_t tag = 0;
  bool is_right = false;  // the checksum
  std::span<const std::byte> key;
  std::span<const std::byte> value;
};
// `bytes` are whole units. Nothing if the lengths exceed them: what was read may be anything.
std::optional<BlockView> parse_block(std::span<const std::byte> bytes);

}  // namespace falafel::race
