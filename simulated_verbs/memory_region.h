// Memory regions over the program's own memory, and what addresses of the program mean to the
// fabric, which knows blocks and offsets.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <span>

#include "fabric/fabric.h"
#include "fabric/sim/existing_programs.h"
#include "simulated_verbs/protection_domain.h"

namespace falafel::simulated_verbs {

struct MemoryRegion : ibv_mr {
  MemoryRegion(ProtectionDomain& owner, std::unique_ptr<fabric::MemoryRegion> registered,
               std::span<std::byte> memory);
  ~MemoryRegion() { --domain.users; }
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;

  ProtectionDomain& domain;
  std::unique_ptr<fabric::MemoryRegion> region;
  std::unique_ptr<sim::MemoryWatch> watch;
};

// The access of libibverbs' flags.
fabric::Access access_of(unsigned flags);

}  // namespace falafel::simulated_verbs
