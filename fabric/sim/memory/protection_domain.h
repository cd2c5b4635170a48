// Protection domains of simulated devices: they register regions over memory blocks.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"
#include "fabric/sim/words/region_table.h"

namespace falafel::sim {

class HostState;
struct World;

class ProtectionDomain final : public fabric::ProtectionDomain {
 public:
  ProtectionDomain(World& world, HostState& host, std::uint32_t number)
      : world_(world), host_(host), number_(number) {}
  fabric::Result<std::unique_ptr<fabric::MemoryRegion>> register_memory(
      std::shared_ptr<fabric::MemoryBlock> block, std::uint64_t offset, std::uint64_t length_bytes,
      fabric::Access access) override;

  std::uint32_t number() const { return number_; }
  HostState& host() const { return host_; }

 private:
  std::uint32_t give_key(Region region);

  World& world_;
  std::weak_ptr<const World> world_lifetime_;
  HostState& host_;
  std::uint32_t number_;
};

}  // namespace falafel::sim
