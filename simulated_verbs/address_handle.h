#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "simulated_verbs/object_of_program.h"
#include "simulated_verbs/protection_domain.h"

namespace falafel::simulated_verbs {

struct AddressHandle : ibv_ah, ObjectOfProgram {
  AddressHandle(ProtectionDomain& owner, std::uint16_t destination);
  ~AddressHandle() { --domain.users; }
  AddressHandle(const AddressHandle&) = delete;
  AddressHandle& operator=(const AddressHandle&) = delete;

  ProtectionDomain& domain;
  std::uint16_t lid;  // of the destination
};

}  // namespace falafel::simulated_verbs
