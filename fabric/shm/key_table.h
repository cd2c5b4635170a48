// The keys of a process's memory regions. They are in its shared memory, where peers look them up.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/shm/arena.h"
#include "fabric/shm/layout.h"

namespace falafel::shm {

// Rights of a region: the bits of KeyEntry::control below the key.
namespace rights {
inline constexpr std::uint64_t none = 0;
inline constexpr std::uint64_t local_write = 1;
inline constexpr std::uint64_t remote_read = 2;
inline constexpr std::uint64_t remote_write = 4;
inline constexpr std::uint64_t remote_atomic = 8;
inline constexpr unsigned bits = 4;
}  // namespace rights

struct Lookup {
  enum class Result : std::uint8_t { found, unknown_key, out_of_bounds, no_right };
  Result result = Result::unknown_key;
  std::byte* address = nullptr;  // if found
};

// Looks up keys in the table of this process or of a peer. A lookup that races with a change
// returns the state before it or after it. The cache remembers valid keys; the next lookup of such
// a key only reads its control word. One thread uses a cache, always with the same arena and
// protection domain.
class KeyCache {
 public:
  KeyCache() = default;  // knows no key and must not be asked for one
  KeyCache(const MappedArena& arena, std::uint64_t domain) : arena_(&arena), domain_(domain) {}

  [[gnu::always_inline]] Lookup look_up(std::uint32_t key, std::uint64_t offset,
                                        std::uint64_t length_bytes, std::uint64_t right) {
    const Known& known = known_[key % entries];
    if (!known.is_valid(key)) return look_up_anew(key, offset, length_bytes, right);
    return known.look_up(offset, length_bytes, right);
  }

 private:
  static constexpr std::size_t entries = 8;
  struct Known {
    const std::atomic<std::uint64_t>* word = nullptr;  // the control word of the key's entry
    std::uint64_t control = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::byte* block = nullptr;

    bool is_valid(std::uint32_t key) const {
      return control >> rights::bits == key && word != nullptr &&
             word->load(std::memory_order_acquire) == control;
    }
    [[gnu::always_inline]] Lookup look_up(std::uint64_t offset, std::uint64_t length_bytes,
                                          std::uint64_t right) const {
      if (offset < begin || offset > end || length_bytes > end - offset) {
        return {.result = Lookup::Result::out_of_bounds};
      }
      if ((control & right) != right) return {.result = Lookup::Result::no_right};
      return {.result = Lookup::Result::found, .address = block + offset};
    }
  };
  [[gnu::cold]] Lookup look_up_anew(std::uint32_t key, std::uint64_t offset,
                                    std::uint64_t length_bytes, std::uint64_t right);
  // Returns whether the key is valid in this domain.
  bool learn(std::uint32_t key, Known& known) const;

  const MappedArena* arena_ = nullptr;
  std::uint64_t domain_ = 0;
  std::array<Known, entries> known_{};
};

// The owner's view of the table. Thread-safe.
class KeyTable {
 public:
  struct Region {
    std::uint64_t domain = 0;
    std::uint64_t block = 0;  // offset in the arena
    std::uint64_t offset = 0;
    std::uint64_t length_bytes = 0;
    fabric::Access access{};
  };

  explicit KeyTable(Arena& arena) : arena_(arena) {}

  // Returns the key. Errors: out_of_memory (all keys are in use, or the system has no memory left).
  fabric::Result<std::uint32_t> add(const Region& region);
  void change_access(std::uint32_t key, fabric::Access access);
  // Makes the key invalid. It becomes valid again only after many other keys.
  void revoke(std::uint32_t key);
  void remove(std::uint32_t key) noexcept;

 private:
  KeyEntry& entry_of(std::uint32_t key) const;
  // Reuses an index as late as possible. Errors: as add.
  fabric::Result<std::uint32_t> take_index();
  bool make_room_for(std::uint32_t index) const;

  Arena& arena_;
  std::mutex mutex_;
  std::deque<std::uint32_t> unused_;        // indices of removed keys, the last removed at the end
  std::vector<std::uint16_t> generations_;  // by index; only indices that were used
};

}  // namespace falafel::shm
