// What stands in the shared memory of a process: its header, the keys of its regions, the endpoints of its
// queue pairs, and the words by which its hosts are woken. Each is written by its owner, or by the peer
// where a comment says so. Offsets count from the start of the shared memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace falafel::shm {

inline constexpr std::uint32_t layout_magic = 0x4653484d;
inline constexpr std::uint32_t layout_version = 2;
inline constexpr std::size_t cache_line_bytes = 64;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "atomics are shared by processes");
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "atomics are shared by processes");

using ArenaId = std::array<std::uint64_t, 2>;  // at random

// A host sets it before it sleeps; who has something for the host clears it and wakes the host.
struct alignas(cache_line_bytes) WakeWord {
  std::atomic<std::uint32_t> sleeping;
};

// A key of a memory region: index in the table, and how often the index was used before.
inline constexpr std::uint32_t key_index_bits = 16;
inline constexpr std::uint32_t max_keys = 1U << key_index_bits;

// The fields are written while `control` says that the key is not valid.
struct alignas(cache_line_bytes) KeyEntry {
  std::atomic<std::uint64_t> control;  // the key, and the rights (key_table.h); 0: not valid
  std::atomic<std::uint64_t> domain;
  std::atomic<std::uint64_t> block;  // offset of the memory block
  std::atomic<std::uint64_t> begin;  // of the region in its block
  std::atomic<std::uint64_t> end;
};

struct ArenaHeader {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint64_t size_bytes;
  ArenaId id;
  // So many entries of the key table have memory; it never takes fewer. Nobody touches those behind them.
  std::atomic<std::uint32_t> key_entries;
};

inline constexpr std::uint64_t max_wake_words = 1024;
inline constexpr std::uint64_t wake_word_table_offset = 4096;
inline constexpr std::uint64_t wake_word_table_bytes = max_wake_words * sizeof(WakeWord);
static_assert(sizeof(ArenaHeader) <= wake_word_table_offset);

// Last, because its pages are taken as keys are given for the first time.
inline constexpr std::uint64_t key_table_offset = wake_word_table_offset + wake_word_table_bytes;
inline constexpr std::uint64_t key_table_bytes = std::uint64_t{max_keys} * sizeof(KeyEntry);
inline constexpr std::uint64_t fixed_part_bytes = key_table_offset + key_table_bytes;
static_assert(sizeof(KeyEntry) == cache_line_bytes);

enum class ReceiveStatus : std::uint32_t { received, too_long };

// One receive request. The owner fills in the buffer, the peer the rest.
struct ReceiveSlot {
  std::uint64_t buffer;  // offset
  std::uint32_t capacity_bytes;
  std::uint32_t length_bytes;
  ReceiveStatus status;
};

enum class EndpointState : std::uint32_t { unused, ready, error, closed };

// One side of a connection. The receive queue is a ring of slots behind the endpoint: the owner has posted
// `posted` requests since the beginning, the peer has filled the first `filled` of them.
struct Endpoint {
  std::uint64_t domain;
  std::uint64_t wake_word;  // offset
  std::uint32_t number;
  std::uint32_t slot_mask;  // number of slots, a power of two, less one
  // Both sides move it on, never back.
  alignas(cache_line_bytes) std::atomic<EndpointState> state;
  // By the peer: it is carrying out requests against this endpoint's memory. If the owner leaves `ready`
  // and then finds this zero, no request of the peer is under way, and none will begin.
  alignas(cache_line_bytes) std::atomic<std::uint32_t> peer_is_busy;
  alignas(cache_line_bytes) std::atomic<std::uint32_t> posted;
  alignas(cache_line_bytes) std::atomic<std::uint32_t> filled;  // by the peer

  ReceiveSlot& slot(std::uint32_t index) {
    return reinterpret_cast<ReceiveSlot*>(this + 1)[index & slot_mask];
  }
};

}  // namespace falafel::shm
