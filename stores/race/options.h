// The questions that the paper leaves open, as options, and protections that it lacks, as
// safeguards.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/fabric.h"

namespace falafel::race {

// Protections that can be switched off one at a time.
struct Safeguards {
  // As published.

  // A client checks the checksum of a block. Excludes: it reads a block that is being written
  // again.
  bool block_checksums = true;
  // An insert reads both combined buckets again and removes copies of its key. Excludes: two
  // clients insert a key into two slots, and both copies stay.
  bool duplicate_removal = true;

  // A client compares the headers of the buckets that it has read with its key, and reads the
  // directory again if they disagree. Excludes: it looks into a subtable that its key has left.
  bool header_checks = true;

  // Beyond the paper.

  // An insert marks its slot as tentative, reads the buckets again, and confirms it only if there
  // is no other copy; readers ignore tentative slots. Excludes: a DELETE removes one of two copies,
  // and the other one is found until its owner removes it; a key moves from one slot to another
  // behind a reader.
  bool tentative_inserts = false;
  // Each use of a block has a number of its own, in its slot and in the block. Excludes: a reader
  // follows an old slot to what a client has written there for a later PUT; a CAS of a client that
  // was slow finds the word of a later use.
  bool block_tags = false;

  // A split freezes a slot before it copies it: writers of its key wait. Excludes: a DELETE clears
  // the old slot after the copy, and the copy is found.
  bool frozen_moves = false;
  // During a split, a client looks into the old subtable first, and then into the new one.
  // Excludes: a slot moves behind a reader that looks into the new one first.
  bool old_subtable_first = false;
  // A client that finds nothing reads the headers again. Excludes: a READ takes the header of a
  // bucket before a split, and its slots after it.
  bool absence_validation = false;
  // A client that has waited most_split_waits times for a split finishes it. Excludes: the client
  // that splits a subtable dies, and operations on this subtable answer `busy` forever.
  bool helped_splits = false;

  friend bool operator==(const Safeguards&, const Safeguards&) = default;
  static constexpr Safeguards published() { return {}; }
  static constexpr Safeguards hardened() {
    return {.tentative_inserts = true,
            .block_tags = true,
            .frozen_moves = true,
            .old_subtable_first = true,
            .absence_validation = true,
            .helped_splits = true};
  }
};

struct SafeguardDescription {
  std::string_view name;
  bool Safeguards::*enabled;
  bool is_published;
};
inline constexpr std::array<SafeguardDescription, 9> safeguard_descriptions{{
    {"block-checksums", &Safeguards::block_checksums, true},
    {"duplicate-removal", &Safeguards::duplicate_removal, true},
    {"tentative-inserts", &Safeguards::tentative_inserts, false},
    {"block-tags", &Safeguards::block_tags, false},
    {"header-checks", &Safeguards::header_checks, true},
    {"frozen-moves", &Safeguards::frozen_moves, false},
    {"old-subtable-first", &Safeguards::old_subtable_first, false},
    {"absence-validation", &Safeguards::absence_validation, false},
    {"helped-splits", &Safeguards::helped_splits, false},
}};

// The copy of a key that stays when an insert finds several. All clients must agree.
enum class KeptCopy : std::uint8_t { lowest_slot, highest_slot };
// The slot that an insert takes in the combined bucket that it has chosen.
enum class SlotOrder : std::uint8_t { main_first, overflow_first };
// The use of a block that a slot has left: none, or the next PUT of the client that removed it,
// which needs Safeguards::block_tags.
enum class BlockReuse : std::uint8_t { never, at_once };

// One set of options for both sides. The node announces what clients need to know of its half.
struct Options {
  Safeguards safeguards = Safeguards::published();

  // The memory node.
  std::uint64_t groups_per_subtable = 1'024;
  std::uint32_t slots_per_bucket = 7;  // a bucket of 64 bytes with its header
  std::uint32_t fingerprint_bits = 8;
  std::uint32_t initial_depth = 2;  // of the directory: 2^initial_depth subtables
  std::uint32_t most_depth = 8;
  std::uint64_t heap_bytes = std::uint64_t{64} << 20;  // 64 bytes times a power of two
  std::uint32_t segment_bytes = 64 << 10;    // that a client requests at once for its blocks
  std::uint32_t most_block_bytes = 4'096;    // a multiple of 64, at most 255 times
  std::optional<std::uint64_t> hash_seed{};  // random if absent
  std::uint16_t service = 11;
  std::uint32_t max_clients = 64;

  // The client.
  KeptCopy kept_copy = KeptCopy::lowest_slot;
  SlotOrder slot_order = SlotOrder::main_first;
  BlockReuse block_reuse = BlockReuse::never;
  std::uint64_t longest_back_off_ns = 20'000;  // after a lost CAS; random
  // An operation that has waited this often for a split finishes it (Safeguards::helped_splits), or
  // answers `busy`.
  std::uint32_t most_split_waits = 1'000;
  // An operation tries this long to reach the node, and waits this long for a reply.
  std::uint64_t server_timeout_ns = 20'000'000'000;
  std::uint64_t reconnect_pause_ns = 20'000;  // between two attempts
  std::uint64_t check_interval_ns = 1'000'000;

  // Both: the time-out of one delivery attempt of the network, and the number of retries.
  std::uint64_t acknowledge_timeout_ns = 500'000'000;
  std::uint32_t retry_count = 7;
};

// A message about the first option that is out of range for this device.
std::optional<std::string> find_invalid_option(const Options& options,
                                               const fabric::DeviceAttributes& device);

}  // namespace falafel::race
