// The memory of a Nessie node (Cassell et al., IEEE TPDS 2017, 4.1): an index table of words of 64
// bits (ITEs), and a data table of equal entries (DTEs). README.md lists the bytes.
//
// What a word or an entry contains was written by some client, so readers must expect any bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::nessie {

using Bytes = std::vector<std::byte>;

// -------------------------------------------------------------------------------------------------
// Index table entries

inline constexpr unsigned watermark_bits = 1;
inline constexpr unsigned empty_bits = 1;
inline constexpr unsigned most_filter_bits = 7;
inline constexpr unsigned data_entry_bits = 47;
inline constexpr unsigned data_table_bits = 8;
static_assert(watermark_bits + empty_bits + most_filter_bits + data_entry_bits + data_table_bits ==
              64);

inline constexpr unsigned empty_shift = watermark_bits;
inline constexpr unsigned filter_shift = empty_shift + empty_bits;
inline constexpr unsigned data_entry_shift = filter_shift + most_filter_bits;
inline constexpr unsigned data_table_shift = data_entry_shift + data_entry_bits;
static_assert(empty_shift == 1 && filter_shift == 2 && data_entry_shift == 9 &&
              data_table_shift == 56);

inline constexpr std::uint64_t most_nodes = std::uint64_t{1} << data_table_bits;
inline constexpr std::uint64_t data_entry_limit = std::uint64_t{1} << data_entry_bits;

// The fields of an ITE. The watermark is not among them: it is 1 in every ITE.
struct IndexEntry {
  std::uint64_t data_table = 0;  // the node that has the DTE
  std::uint64_t data_entry = 0;  // index of the DTE; above the table's size, with a generation
  std::uint64_t filter = 0;
  bool is_empty = false;

  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};

constexpr std::uint64_t encode(const IndexEntry& entry) {
  return entry.data_table << data_table_shift | entry.data_entry << data_entry_shift |
         entry.filter << filter_shift | std::uint64_t{entry.is_empty} << empty_shift | 1;
}

constexpr IndexEntry decode(std::uint64_t word) {
  return {.data_table = word >> data_table_shift,
          .data_entry = word >> data_entry_shift & (data_entry_limit - 1),
          .filter = word >> filter_shift & ((std::uint64_t{1} << most_filter_bits) - 1),
          .is_empty = (word >> empty_shift & 1) != 0};
}

// The word of a slot that never had an entry.
inline constexpr std::uint64_t empty_word = encode({.is_empty = true});
static_assert(empty_word == 0b11);
static_assert(decode(empty_word).is_empty);
static_assert(decode(encode({.data_table = 255, .data_entry = 1, .filter = 127})) ==
              IndexEntry{.data_table = 255, .data_entry = 1, .filter = 127});

constexpr bool has_watermark(std::uint64_t word) { return (word & 1) != 0; }

// "node 1, entry 5, filter 3" or "empty".
std::string describe(std::uint64_t word);

// A slot of the index tables.
struct Slot {
  std::uint64_t node = 0;
  std::uint64_t index = 0;

  friend auto operator<=>(const Slot&, const Slot&) = default;
};

// -------------------------------------------------------------------------------------------------
// Data table entries

inline constexpr std::uint64_t valid_flag = 1;    // the PUT or MIGRATE that wrote it has completed
inline constexpr std::uint64_t recycle_flag = 2;  // may be used again once `expiry` has passed

// The front of a DTE, which is read without its value.
struct DataEntryHeader {
  std::uint64_t flags = 0;
  std::uint64_t expiry_ns = 0;  // by wall clocks; meaningful with recycle_flag
  std::uint64_t previous = 0;   // the ITE that this one has replaced, or 0
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;

  bool is_valid() const { return (flags & valid_flag) != 0; }
  bool is_recycled() const { return (flags & recycle_flag) != 0; }
};
static_assert(sizeof(DataEntryHeader) == 32);
static_assert(offsetof(DataEntryHeader, flags) == 0);
static_assert(offsetof(DataEntryHeader, expiry_ns) == 8);
static_assert(offsetof(DataEntryHeader, previous) == 16);
static_assert(offsetof(DataEntryHeader, key_bytes) == 24);
static_assert(offsetof(DataEntryHeader, value_bytes) == 28);

// Flags and expiry, which a mark for recycling changes with one WRITE.
inline constexpr std::uint32_t mark_bytes = 16;

struct DataEntry {
  DataEntryHeader header{};
  Bytes key{};
  Bytes value{};  // empty if only the front was read
};

// The places of the parts of a DTE, which depend on the largest key and value.
class DataEntryLayout {
 public:
  DataEntryLayout(std::uint64_t most_key_bytes, std::uint64_t most_value_bytes);

  std::uint64_t most_key_bytes() const { return most_key_bytes_; }
  std::uint64_t most_value_bytes() const { return most_value_bytes_; }
  std::uint64_t key_offset() const { return sizeof(DataEntryHeader); }
  std::uint64_t value_offset() const { return value_offset_; }
  std::uint64_t front_bytes() const { return value_offset_; }  // all but value and watermark
  std::uint64_t watermark_offset() const { return watermark_offset_; }
  std::uint64_t entry_bytes() const { return watermark_offset_ + fabric::word_bytes; }

  // The bytes of an entry, with padding and watermark. Key and value fit.
  Bytes encode(const DataEntry& entry) const;
  // The inverse, for all of an entry or its front. nullopt if the sizes exceed the limits.
  std::optional<DataEntry> decode(std::span<const std::byte> bytes) const;

 private:
  std::uint64_t most_key_bytes_;
  std::uint64_t most_value_bytes_;
  std::uint64_t value_offset_;
  std::uint64_t watermark_offset_;
};

// -------------------------------------------------------------------------------------------------
// The memory block of a node: the index table, then the data table.

class NodeLayout {
 public:
  NodeLayout(std::uint64_t index_entries, std::uint64_t data_entries, const DataEntryLayout& entry)
      : index_entries_(index_entries), data_entries_(data_entries), entry_(entry) {}

  std::uint64_t index_entries() const { return index_entries_; }
  std::uint64_t data_entries() const { return data_entries_; }
  const DataEntryLayout& entry() const { return entry_; }

  std::uint64_t index_offset(std::uint64_t index) const { return index * fabric::word_bytes; }
  std::uint64_t index_table_bytes() const { return index_entries_ * fabric::word_bytes; }
  std::uint64_t data_table_bytes() const { return data_entries_ * entry_.entry_bytes(); }
  std::uint64_t block_bytes() const { return index_table_bytes() + data_table_bytes(); }
  // `data_entry` as in an ITE: its generation does not matter.
  std::uint64_t data_offset(std::uint64_t data_entry) const {
    return index_table_bytes() + data_entry % data_entries_ * entry_.entry_bytes();
  }

 private:
  std::uint64_t index_entries_;
  std::uint64_t data_entries_;
  DataEntryLayout entry_;
};

}  // namespace falafel::nessie
