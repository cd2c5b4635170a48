#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"
#include "simulated_verbs/context.h"
#include "simulated_verbs/object_of_program.h"

namespace falafel::simulated_verbs {

struct ProtectionDomain : ibv_pd, ObjectOfProgram {
  explicit ProtectionDomain(Context& opened);
  ~ProtectionDomain() = default;
  ProtectionDomain(const ProtectionDomain&) = delete;
  ProtectionDomain& operator=(const ProtectionDomain&) = delete;

  Context& owner;
  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::uint32_t users = 0;  // regions, queue pairs, shared receive queues, address handles
};

inline ProtectionDomain& wrapper_of(ibv_pd* pd) { return *static_cast<ProtectionDomain*>(pd); }

}  // namespace falafel::simulated_verbs
