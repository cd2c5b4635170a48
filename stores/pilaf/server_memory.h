// The server's memory block with its two registered areas, and how it grows (Pilaf 3.2, 3.3, 4).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "stores/pilaf/hash_map.h"
#include "stores/pilaf/layout.h"
#include "stores/pilaf/options.h"

namespace falafel::pilaf {

// The part that has become too small.
enum class Growth : std::uint8_t { table, extents };

class ServerMemory {
 public:
  // A block with its two registered areas.
  struct Registered {
    std::shared_ptr<fabric::MemoryBlock> block;
    std::unique_ptr<fabric::MemoryRegion> table;
    std::unique_ptr<fabric::MemoryRegion> extents;
  };
  // Memory that is not in use yet, and where the keys of a larger table go.
  struct Larger {
    Geometry geometry;
    std::optional<HashMap::Placement> placement{};
    std::unique_ptr<Registered> memory{};
  };

  // `options`, `host` and `domain` outlive this object. Errors: out_of_memory.
  static fabric::Result<std::unique_ptr<ServerMemory>> create(fabric::Host& host,
                                                              fabric::ProtectionDomain& domain,
                                                              const Options& options);
  ServerMemory(const ServerMemory&) = delete;
  ServerMemory& operator=(const ServerMemory&) = delete;

  // Allocates and registers twice as much, and finds places for all keys. Errors: out_of_memory;
  // nothing has changed then.
  fabric::Result<std::unique_ptr<Larger>> prepare(Growth growth);
  // Revokes the registrations, so READs of clients fail from now on.
  void revoke();
  // Moves everything there. The old memory stays registered unless it was revoked.
  void move_to(std::unique_ptr<Larger> larger);

  HashMap& map() { return *map_; }
  std::uint32_t table_key() const;
  std::uint32_t extents_key() const;

 private:
  ServerMemory(fabric::Host& host, fabric::ProtectionDomain& domain, const Options& options);
  fabric::Result<std::unique_ptr<Registered>> allocate(const Geometry& geometry);
  Geometry double_table(std::optional<HashMap::Placement>& placement);

  fabric::Host& host_;
  fabric::ProtectionDomain& domain_;
  const Options& options_;
  std::unique_ptr<Registered> current_;
  // Without Safeguards::reset_before_growing, clients keep reading what the server has left.
  std::vector<std::unique_ptr<Registered>> left_;
  std::optional<HashMap> map_;
};

}  // namespace falafel::pilaf
