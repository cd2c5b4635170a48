// Memory regions over the program's own memory, and what addresses of the program mean to the
// fabric, which knows blocks and offsets.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fabric/fabric.h"
#include "fabric/sim/existing_programs.h"
#include "simulated_verbs/object_of_program.h"
#include "simulated_verbs/protection_domain.h"

namespace falafel::simulated_verbs {

// The memory that a program registers, and the names and rights that it gives it.
struct Registration {
  ProtectionDomain* domain = nullptr;
  std::byte* address = nullptr;
  std::size_t length_bytes = 0;
  std::uint64_t first_address = 0;  // under which peers and requests name the first byte
  unsigned rights = 0;              // flags of libibverbs
};

struct MemoryRegion : ibv_mr, ObjectOfProgram {
  MemoryRegion() : ibv_mr{} {}
  ~MemoryRegion();
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;

  bool contains(const void* address) const {
    return address >= addr && bytes_before(address) < length;
  }
  // The offset in its block of an address that it contains, and the number of bytes from there on
  // that it contains.
  std::uint64_t offset_of(const void* address) const {
    return region->offset() + bytes_before(address);
  }
  std::size_t clamp(const void* address, std::size_t length_bytes) const {
    return std::min(length_bytes, length - bytes_before(address));
  }

  // Registers memory, with new keys. Returns 0 or an errno; then it is no region.
  int register_memory(const Registration& wanted);
  // An address less this is an offset in the block.
  std::uint64_t base() const { return registration.first_address - region->offset(); }

  Registration registration;
  std::shared_ptr<fabric::MemoryBlock> block;
  std::unique_ptr<fabric::MemoryRegion> region;
  std::unique_ptr<sim::MemoryWatch> watch;

 private:
  std::size_t bytes_before(const void* address) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(address) -
                                    static_cast<std::byte*>(addr));
  }
};

// The access of libibverbs' flags.
fabric::Access access_of(unsigned flags);

}  // namespace falafel::simulated_verbs
