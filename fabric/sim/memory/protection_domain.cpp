#include "fabric/sim/memory/protection_domain.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fabric/posting_rules.h"
#include "fabric/sim/memory/memory.h"
#include "fabric/sim/own_object.h"
#include "fabric/sim/run/host_state.h"
#include "fabric/sim/run/world.h"

namespace falafel::sim {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

// The device keeps only what both the region and the option demand.
fabric::RegionOrdering kept_ordering(const fabric::Access& access, const World& world) {
  return std::max(fabric::ordering_of(access), world.options.region_ordering);
}

class MemoryRegion final : public fabric::MemoryRegion {
 public:
  MemoryRegion(World& world, std::uint32_t key, std::uint32_t incarnation)
      : world_(world), key_(key), incarnation_(incarnation) {}
  ~MemoryRegion() override { revoke(); }
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;

  std::uint32_t local_key() const override { return key_; }
  std::uint32_t remote_key() const override { return world_.regions.remote_key(key_); }
  std::uint64_t offset() const override { return region().offset; }
  std::uint64_t length_bytes() const override { return region().length_bytes; }
  fabric::Access access() const override { return region().access; }
  Result<void> change_access(fabric::Access access) override {
    if (Result<void> checked = fabric::check_access(access); !checked) return checked;
    drain_stores();
    world_.touch(Touchable::region, key_, Access::writes);
    region().access = access;
    world_.regions.set_ordering(region(), kept_ordering(access, world_));
    return {};
  }
  void revoke() override {
    drain_stores();
    world_.touch(Touchable::region, key_, Access::writes);
    region().revoked = true;
  }

 private:
  Region& region() const { return world_.regions.at(key_, incarnation_); }
  void drain_stores() const {
    if (world_.lifetime != nullptr) region().host->drain_stores();
  }

  World& world_;
  std::uint32_t key_;
  std::uint32_t incarnation_;
};

}  // namespace

Result<std::unique_ptr<fabric::MemoryRegion>> ProtectionDomain::register_memory(
    std::shared_ptr<fabric::MemoryBlock> block, std::uint64_t offset, std::uint64_t length_bytes,
    fabric::Access access) {
  MemoryBlock* const own_block = as_own<MemoryBlock>(block.get());
  if (own_block == nullptr) {
    return make_error(
        ErrorCode::invalid_argument,
        "block: null, or of another fabric; use memory from this host's allocate_memory");
  }
  if (length_bytes == 0) {
    return make_error(ErrorCode::invalid_argument, "length_bytes: 0; register at least one byte");
  }
  if (Result<void> checked = fabric::check_access(access); !checked) {
    return tl::unexpected<fabric::Error>(checked.error());
  }
  const std::uint64_t size_bytes = own_block->size_bytes();
  if (length_bytes > size_bytes || offset > size_bytes - length_bytes) {
    return make_error(ErrorCode::out_of_bounds,
                      fmt::format("bytes {}..+{} are not within the block of {} bytes", offset,
                                  length_bytes, size_bytes));
  }
  const std::size_t most = host_.options().max_registrations;
  if (most != HostOptions::without_limit) world_.touch(Touchable::world, 0, Access::writes);
  if (most != HostOptions::without_limit && world_.regions.count_valid(host_) >= most) {
    return make_error(ErrorCode::out_of_memory,
                      fmt::format("{} has all of its {} registrations; allow more, or revoke some",
                                  host_.name(), most));
  }
  if (world_.strikes(FaultKind::registration_failure, ChoiceKind::registration)) {
    world_.count(FaultKind::registration_failure);
    return make_error(ErrorCode::out_of_memory,
                      fmt::format("{} cannot lock {} bytes; register less, or try again",
                                  host_.name(), length_bytes));
  }
  host_.drain_stores();
  world_.touch(Touchable::numbers, 0, Access::writes);
  Region region;
  region.base = own_block->data();
  region.host = &own_block->host();
  region.block = own_block->shared_from_this();
  region.block_number = own_block->number();
  region.offset = offset;
  region.length_bytes = length_bytes;
  region.access = access;
  world_.regions.set_ordering(region, kept_ordering(access, world_));
  region.protection_domain = number_;
  region.incarnation = host_.incarnation();
  const std::uint32_t key = give_key(std::move(region));
  return std::make_unique<MemoryRegion>(world_, key, host_.incarnation());
}

// A new key, unless the device gives a former one again.
std::uint32_t ProtectionDomain::give_key(Region region) {
  if (!world_.options.keys_reused_after_restart) return world_.regions.add(std::move(region));
  const std::vector<std::uint32_t> former = world_.regions.former_keys(host_, host_.incarnation());
  const std::uint64_t choice = world_.choose(ChoiceKind::key, former.size() + 1);
  if (choice == 0) return world_.regions.add(std::move(region));
  const std::uint32_t key = former[choice - 1];
  world_.touch(Touchable::region, key, Access::writes);
  world_.regions.replace(key, std::move(region));
  return key;
}

}  // namespace falafel::sim
