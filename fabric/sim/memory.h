// Memory of simulated hosts: blocks, the regions registered over them, and the table that finds a
// region by its key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/sim/touches.h"

namespace falafel::sim {

class Host;
class StoreBuffer;
struct World;

class MemoryBlock final : public fabric::MemoryBlock,
                          public std::enable_shared_from_this<MemoryBlock> {
 public:
  MemoryBlock(World& world, Host& host, std::uint64_t size_bytes);
  // Memory that the program owns. It exists as long as the world.
  MemoryBlock(World& world, Host& host, std::span<std::byte> owned_by_program);
  ~MemoryBlock() override;
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;

  std::span<std::byte> bytes() override {
    if (is_special_) prepare_direct_access();
    return {data_, size_bytes_};
  }
  std::uint64_t load(std::uint64_t offset) override;
  void store(std::uint64_t offset, std::uint64_t value) override;
  std::uint64_t compare_and_swap(std::uint64_t offset, std::uint64_t expected,
                                 std::uint64_t desired) override;
  void read(std::uint64_t offset, std::span<std::byte> destination) override;
  void write(std::uint64_t offset, std::span<const std::byte> source) override;
  std::uint64_t wait_until_changed(std::uint64_t offset, std::uint64_t seen,
                                   std::uint64_t deadline_ns) override;

  std::byte* data() const { return data_; }
  std::uint64_t size_bytes() const { return size_bytes_; }
  std::uint32_t number() const { return number_; }  // blocks are numbered as they are allocated
  const Host& host() const { return host_; }

  // A store of that fiber reaches memory.
  void change_word(fabric::FiberId fiber, std::uint64_t offset, std::uint64_t value);
  void change_bytes(fabric::FiberId fiber, std::uint64_t offset, std::span<const std::byte> source);
  // See existing_programs.h.
  void expect_store(std::uint64_t offset);
  void note_store(std::uint64_t offset, std::uint64_t length_bytes);
  void write_through(std::uint64_t offset, std::span<const std::byte> source);

 private:
  // `late_words`: of those that may be late, how many an exploration leaves late.
  std::uint64_t load(std::uint64_t offset, Answers late_words);
  std::byte* word(std::uint64_t offset) const;
  void check_range(std::uint64_t offset, std::uint64_t length_bytes) const;
  void maybe_preempt();
  void prepare_direct_access();
  StoreBuffer* store_buffer() const;
  fabric::FiberId running_fiber() const;
  void change(std::uint64_t offset, std::span<const std::byte> source);
  void touch_as_processor(std::uint64_t offset, std::uint64_t length_bytes, Access access) {
    if (is_observed_) report_access(offset, length_bytes, access);
  }
  void report_access(std::uint64_t offset, std::uint64_t length_bytes, Access access);
  void look(const std::byte* begin, std::span<std::byte> seen, Answers late_words = all_answers);
  void show_newest(std::uint64_t offset, std::uint64_t length_bytes);
  template <typename Move>
  void move_torn(std::uint64_t offset, std::uint64_t length_bytes, Move move);

  World& world_;
  std::weak_ptr<const World> world_lifetime_;
  Host& host_;
  std::uint32_t number_;
  bool is_observed_;  // an explorer wants to know of accesses
  bool is_special_;   // direct access to the bytes has effects: it is observed, or drains stores
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> own_memory_;  // null if the program owns it
  std::byte* data_;
  std::uint64_t size_bytes_;
};

// A registration, valid until it is revoked. A run never uses a key twice, except for hosts that
// restart with the option keys_reused_after_restart.
struct Region {
  std::shared_ptr<MemoryBlock> block;
  std::byte* base = nullptr;  // start of the block
  std::uint64_t offset = 0;
  std::uint64_t length_bytes = 0;
  fabric::Access access;
  std::uint32_t protection_domain = 0;
  std::uint32_t incarnation = 0;  // of the host that registered it
  bool revoked = false;

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
  // The keys of regions that the host registered before it restarted.
  std::vector<std::uint32_t> former_keys(const Host& host) const;
  // The region gets a former key of its host.
  void replace(std::uint32_t key, Region region);
  std::uint32_t remote_key(std::uint32_t key) const { return key + remote_key_distance_; }
  // Returns a key of no region for a number that is no remote key.
  std::uint32_t key_of_remote(std::uint32_t remote_key) const {
    return remote_key - remote_key_distance_;
  }
  std::size_t count_valid(const Host& host) const;
  Region& at(std::uint32_t key) {
    FALAFEL_ASSERT(key - 1 < keys_given_, "there is no region of key {}", key);
    return regions_[key - 1];
  }
  // The region that had the key in that incarnation of its host.
  Region& at(std::uint32_t key, std::uint32_t incarnation);
  // The region, if queue pairs of this protection domain may use it; otherwise null.
  Region* find(std::uint32_t key, std::uint32_t protection_domain) {
    if (key - 1 >= keys_given_) return nullptr;
    Region& region = regions_[key - 1];
    return region.revoked || region.protection_domain != protection_domain ? nullptr : &region;
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
};

class ProtectionDomain final : public fabric::ProtectionDomain {
 public:
  ProtectionDomain(World& world, Host& host, std::uint32_t number)
      : world_(world), host_(host), number_(number) {}
  fabric::Result<std::unique_ptr<fabric::MemoryRegion>> register_memory(
      std::shared_ptr<fabric::MemoryBlock> block, std::uint64_t offset, std::uint64_t length_bytes,
      fabric::Access access) override;

  std::uint32_t number() const { return number_; }
  Host& host() const { return host_; }

 private:
  std::uint32_t give_key(Region region);

  World& world_;
  std::weak_ptr<const World> world_lifetime_;
  Host& host_;
  std::uint32_t number_;
};

}  // namespace falafel::sim
