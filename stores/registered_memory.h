// Memory that is registered whole.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"

namespace falafel::stores {

struct RegisteredMemory {
  std::shared_ptr<fabric::MemoryBlock> block;
  std::unique_ptr<fabric::MemoryRegion> region;

  // Errors: those of allocate_memory and register_memory.
  static fabric::Result<RegisteredMemory> create(fabric::Host& host,
                                                 fabric::ProtectionDomain& domain,
                                                 std::uint64_t size_bytes,
                                                 const fabric::Access& access);
};

}  // namespace falafel::stores
