// The layout of a process's shared memory: a header, the keys of its regions, the endpoints of its
// queue pairs, and the words that wake its hosts. The owner writes all fields, except those that a
// comment assigns to the peer. Offsets count from the start of the shared memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fabric/realtime/gate.h"

namespace falafel::shm {

inline constexpr std::uint32_t layout_magic = 0x4653484d;
inline constexpr std::uint32_t layout_version = 5;
inline constexpr std::size_t cache_line_bytes = fabric::Gate::line_bytes;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share these atomics");
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "processes share these atomics");

using ArenaId = std::array<std::uint64_t, 2>;  // drawn at random

// A host sets it before it sleeps. Whoever has news for the host clears it and wakes the host.
struct alignas(cache_line_bytes) WakeWord {
  std::atomic<std::uint32_t> sleeping;
};

// A key of a memory region consists of an index in the table and a count of earlier uses of the
// index.
inline constexpr std::uint32_t key_index_bits = 16;
inline constexpr std::uint32_t max_keys = 1U << key_index_bits;

// The owner writes the other fields only while `control` is 0.
struct alignas(cache_line_bytes) KeyEntry {
  std::atomic<std::uint64_t> control;  // the key and the rights (key_table.h); 0: not valid
  std::atomic<std::uint64_t> domain;
  std::atomic<std::uint64_t> block;  // offset of the memory block
  std::atomic<std::uint64_t> begin;  // of the region within its block
  std::atomic<std::uint64_t> end;
};

struct ArenaHeader {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint64_t size_bytes;
  ArenaId id;
  // The number of entries of the key table that have memory. It only grows; nobody touches later
  // entries.
  std::atomic<std::uint32_t> key_entries;
  std::atomic<std::uint32_t> life;  // the kernel marks it when the process ends (life_sign.h)
  // The range over which a file lies with memory that the process keeps beyond its end; 0: none.
  // Once used, a range is never used otherwise.
  std::atomic<std::uint64_t> kept_begin;
  std::atomic<std::uint64_t> kept_end;
};

inline constexpr std::uint64_t max_wake_words = 1024;
inline constexpr std::uint64_t wake_word_table_offset = 4096;
inline constexpr std::uint64_t wake_word_table_bytes = max_wake_words * sizeof(WakeWord);
static_assert(sizeof(ArenaHeader) <= wake_word_table_offset);

// The key table comes last because its pages take memory only as keys are first used.
inline constexpr std::uint64_t key_table_offset = wake_word_table_offset + wake_word_table_bytes;
inline constexpr std::uint64_t key_table_bytes = std::uint64_t{max_keys} * sizeof(KeyEntry);
inline constexpr std::uint64_t fixed_part_bytes = key_table_offset + key_table_bytes;
static_assert(sizeof(KeyEntry) == cache_line_bytes);

enum class ReceiveStatus : std::uint32_t { received, too_long };

// The kind of request that filled a receive request. Other values count as `message`.
enum class Arrival : std::uint32_t { message, message_with_immediate, write_with_immediate };

inline constexpr std::uint32_t most_segments = 16;  // per request

// A part of the buffer of a receive request.
struct ReceiveSegment {
  std::uint64_t buffer;  // offset
  std::uint64_t length_bytes;
};

// One receive request. The owner writes the buffer, the peer the rest.
struct ReceiveSlot {
  ReceiveSegment first;          // without data: of no bytes
  std::uint32_t segment_count;   // those behind the first one are in Endpoint::segment()
  std::uint32_t capacity_bytes;  // of all segments
  std::uint32_t length_bytes;
  ReceiveStatus status;
  Arrival arrival;
  std::uint32_t immediate;
};

using fabric::Gate;
using fabric::GateState;

// One side of a connection. The receive queue is a ring of slots that follows the endpoint; behind
// it, each slot has room for its further segments. The owner has posted `posted` requests since the
// beginning, and the peer has filled the first `filled` of them.
struct Endpoint {
  std::uint64_t domain;
  std::uint64_t wake_word;  // offset
  std::uint32_t number;
  std::uint32_t slot_mask;         // the number of slots, a power of two, minus one
  std::uint32_t further_segments;  // per slot
  std::uint64_t gate;              // offset; the peer enters the owner's memory there
  Gate own_gate;                   // that gate, unless it is in the file of kept memory
  alignas(cache_line_bytes) std::atomic<std::uint32_t> posted;
  alignas(cache_line_bytes) std::atomic<std::uint32_t> filled;  // written by the peer

  ReceiveSlot& slot(std::uint32_t index) {
    return reinterpret_cast<ReceiveSlot*>(this + 1)[index & slot_mask];
  }
  // The place of a segment of a slot, counted from 1, in bytes from the endpoint.
  std::uint64_t place_of_segment(std::uint32_t index, std::uint32_t counted) const {
    const std::uint64_t slots = std::uint64_t{slot_mask} + 1;
    const std::uint64_t before =
        (index & slot_mask) * std::uint64_t{further_segments} + counted - 1;
    return sizeof(Endpoint) + slots * sizeof(ReceiveSlot) + before * sizeof(ReceiveSegment);
  }
};

}  // namespace falafel::shm
