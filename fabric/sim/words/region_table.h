// Regions: the ranges of memory that were registered, and the table that finds them by their keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <vector>

#include "fabric/assert.h"
#include "fabric/fabric.h"
#include "fabric/region_ordering.h"

namespace falafel::sim {

class HostState;

// A registration, valid until it is revoked. A run never uses a key twice, except for hosts that
// restart with the option keys_reused_after_restart.
struct Region {
  std::shared_ptr<fabric::MemoryBlock> block;
  std::uint32_t block_number = 0;
  std::byte* base = nullptr;        // start of the block
  const HostState* host = nullptr;  // that registered it
  std::uint64_t offset = 0;
  std::uint64_t length_bytes = 0;
  fabric::Access access;
  fabric::RegionOrdering ordering = fabric::RegionOrdering::strong;
  std::uint32_t protection_domain = 0;
  std::uint32_t incarnation = 0;  // of the host that registered it
  bool revoked = false;           // a window: or not bound yet
  // Local buffers in the region fail, too.
  bool withdrawn = false;
  // The rest is of a memory window: the local key of its region (0: this is none), and the only
  // queue pair whose peer may use it (0: all of the domain).
  std::uint32_t window_of = 0;
  std::uint32_t queue_pair = 0;

  bool contains(std::uint64_t at, std::uint64_t length) const {
    const std::uint64_t skipped =
        at - offset;  // wraps around if `at` is before, and exceeds any length
    return skipped <= length_bytes && length <= length_bytes - skipped;
  }
};

// Regions by local key.
class RegionTable {
 public:
  RegionTable(std::pmr::memory_resource& memory, std::size_t expected_count, bool distinct_keys)
      : regions_(&memory),
        replaced_(&memory),
        remote_key_distance_(distinct_keys ? std::uint32_t{1} << 31U : 0) {
    regions_.reserve(expected_count);
  }

  std::uint32_t add(Region region);  // returns its key
  // The keys of regions that the host registered in other incarnations than this one.
  std::vector<std::uint32_t> former_keys(const HostState& host, std::uint32_t incarnation) const;
  // The region gets a former key of its host.
  void replace(std::uint32_t key, Region region);
  std::uint32_t remote_key(std::uint32_t key) const { return key + remote_key_distance_; }
  // Returns a key of no region for a number that is no remote key.
  std::uint32_t key_of_remote(std::uint32_t remote_key) const {
    return remote_key - remote_key_distance_;
  }
  std::size_t count_valid(const HostState& host) const;
  Region& at(std::uint32_t key) {
    FALAFEL_ASSERT(key - 1 < keys_given_, "there is no region of key {}", key);
    return regions_[key - 1];
  }
  // The region that had the key in that incarnation of its host.
  Region& at(std::uint32_t key, std::uint32_t incarnation);
  // Local buffers in the region fail from now on.
  void withdraw(std::uint32_t key) {
    at(key).withdrawn = true;
    has_faulty_buffers_ = true;
  }
  void expect_faulty_buffers() { has_faulty_buffers_ = true; }
  void set_ordering(Region& region, fabric::RegionOrdering ordering) {
    region.ordering = ordering;
    if (ordering != fabric::RegionOrdering::strong) has_weak_ordering_ = true;
  }
  // A region has, or had, another order than `strong`.
  bool has_weak_ordering() const { return has_weak_ordering_; }
  // Buffers that were usable when they were posted may have become faulty.
  bool has_faulty_buffers() const { return has_faulty_buffers_; }
  bool is_usable(const fabric::MemoryAddress& local, std::uint64_t length_bytes) const {
    if (local.key - 1 >= keys_given_) return false;
    const Region& region = regions_[local.key - 1];
    return !region.withdrawn && region.contains(local.offset, length_bytes);
  }
  // The region, if queue pairs of this protection domain may use it; otherwise null.
  Region* find(std::uint32_t key, std::uint32_t protection_domain) {
    if (key - 1 >= keys_given_) return nullptr;
    Region& region = regions_[key - 1];
    return region.revoked || region.protection_domain != protection_domain ? nullptr : &region;
  }
  // The same for a local buffer, which cannot be in a window.
  const Region* find_local(std::uint32_t key, std::uint32_t protection_domain) {
    const Region* const region = find(key, protection_domain);
    return region == nullptr || region->window_of != 0 ? nullptr : region;
  }

 private:
  struct Replaced {
    std::uint32_t key = 0;
    Region region;
  };

  std::pmr::vector<Region> regions_;
  // They keep their blocks, to which requests of the past may still refer.
  std::pmr::vector<Replaced> replaced_;
  std::uint32_t keys_given_ = 0;
  std::uint32_t remote_key_distance_;
  bool has_faulty_buffers_ = false;
  bool has_weak_ordering_ = false;
};

}  // namespace falafel::sim
