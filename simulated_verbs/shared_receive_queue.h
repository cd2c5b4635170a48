#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"
#include "simulated_verbs/object_of_program.h"
#include "simulated_verbs/protection_domain.h"
#include "simulated_verbs/unacknowledged_events.h"

namespace falafel::simulated_verbs {

struct SharedReceiveQueue : ibv_srq, ObjectOfProgram {
  SharedReceiveQueue(ProtectionDomain& owner, std::unique_ptr<fabric::SharedReceiveQueue> made,
                     const ibv_srq_init_attr& attributes);
  ~SharedReceiveQueue() { --domain.users; }
  SharedReceiveQueue(const SharedReceiveQueue&) = delete;
  SharedReceiveQueue& operator=(const SharedReceiveQueue&) = delete;

  int post_receive(const ibv_recv_wr& work);  // returns 0 or an errno

  ProtectionDomain& domain;
  std::unique_ptr<fabric::SharedReceiveQueue> queue;
  ibv_srq_attr limits;
  UnacknowledgedEvents unacknowledged;
  std::uint32_t users = 0;  // queue pairs
};

}  // namespace falafel::simulated_verbs
