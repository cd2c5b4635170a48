// The server's private index (C-Hint 3.2, 3.3, 3.5): a descriptor of each cached item, the memory
// that items occupy, and the decisions about them: which lease an access grants, which item gives
// way, and when memory is used again. It knows nothing of the network, and touches no item.
//
// All times are those of the server's clock for leases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stores/buddy_allocator.h"
#include "stores/c_hint/options.h"
#include "stores/c_hint/replacement.h"

namespace falafel::c_hint {

struct Descriptor {
  std::vector<std::byte> key{};
  std::uint64_t offset = 0;  // of the item
  std::uint64_t item_bytes = 0;
  std::uint64_t version = 0;
  std::uint64_t lease_end_ns = 0;  // of the leases of this memory, the latest that counts
  std::uint64_t life_end_ns = fabric::never_ns;
};

// The place, the version and the life of an item.
struct Place {
  std::uint64_t offset = 0;
  std::uint64_t item_bytes = 0;
  std::uint64_t version = 0;
  std::uint64_t life_end_ns = fabric::never_ns;
};

struct DirectoryStatistics {
  std::uint64_t evictions = 0;
  std::uint64_t refusals = 0;        // no room, because no item could be evicted
  std::uint64_t renewals = 0;        // of items in reports
  std::uint64_t shorter_leases = 0;  // a lease ended before one granted earlier for the same memory

  DirectoryStatistics& operator+=(const DirectoryStatistics& other);
};

class Directory {
 public:
  // The memory of options.items_bytes begins at this offset. `options` outlives this object.
  explicit Directory(const Options& options, std::uint64_t first_offset = 0);

  // Null if the key is not cached.
  const Descriptor* find(std::span<const std::byte> key) const;
  const Descriptor* find(Item item) const;

  // Memory for an item of this size, after evicting others if need be. Nothing if there is none.
  // Any descriptor may be gone afterwards.
  std::optional<std::uint64_t> allocate(std::uint64_t item_bytes, std::uint64_t now_ns);
  // An item at memory from allocate(), whose key's hash is not there.
  const Descriptor& insert(std::span<const std::byte> key, const Place& place,
                           std::uint64_t now_ns);
  // The item has moved to memory from allocate(), or has changed in place. It counts as an access.
  const Descriptor& update(Item item, const Place& place, std::uint64_t now_ns);
  // The server sees an access, so the item gets a new lease.
  const Descriptor& touch(Item item, std::uint64_t now_ns);
  // A client has reported accesses, which count the same.
  const Descriptor& renew(Item item, std::uint64_t accesses, std::uint64_t now_ns);
  // Takes an item out. Its memory waits for its lease.
  void remove(Item item, std::uint64_t now_ns);

  std::uint64_t block_bytes_for(std::uint64_t item_bytes) const {
    return memory_.block_bytes_for(item_bytes);
  }
  // The end of the lease that a client gets of this item.
  std::uint64_t end_of_granted_lease(const Descriptor& descriptor) const;
  // Returns whether clients may READ: free memory is not too fragmented (4).
  bool permits_reads() const;
  std::uint32_t queue_of(Item item) const { return replacement_->queue_of(item); }

  const std::map<Item, Descriptor>& descriptors() const { return descriptors_; }
  const DirectoryStatistics& statistics() const { return statistics_; }
  std::uint64_t free_bytes() const { return memory_.free_bytes(); }
  // The sizes of blocks that are in use, by offset.
  std::map<std::uint64_t, std::uint64_t> allocated() const;
  // Offsets of memory that waits for its lease, by the end of that lease.
  const std::multimap<std::uint64_t, std::uint64_t>& waiting() const { return waiting_; }

 private:
  LeaseEnded lease_ended(std::uint64_t now_ns) const;
  std::uint64_t latest_lease_end_ns(const Descriptor& descriptor) const;
  std::uint64_t used_bytes() const { return memory_.total_bytes() - memory_.free_bytes(); }
  const Descriptor& use(Item item, std::uint64_t accesses, std::uint64_t now_ns);
  void grant(Item item, Descriptor& descriptor, std::uint64_t now_ns);
  void free(std::uint64_t offset) { memory_.free(offset - first_offset_); }
  void retire(std::uint64_t offset, std::uint64_t lease_end_ns, std::uint64_t now_ns);
  void reclaim(std::uint64_t now_ns);
  bool evict_one(std::uint64_t now_ns);

  const Options& options_;
  std::uint64_t first_offset_;
  stores::BuddyAllocator memory_;
  std::unique_ptr<Replacement> replacement_;
  std::map<Item, Descriptor> descriptors_;
  std::multimap<std::uint64_t, std::uint64_t> waiting_;
  DirectoryStatistics statistics_;
};

}  // namespace falafel::c_hint
