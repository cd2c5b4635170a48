// The mark by which the owner of memory sees that a peer carries out requests there.
#pragma once

#include "fabric/realtime/gate.h"

namespace falafel::shm {

// While it lives, the peer sees that its memory is in use (Gate::peer_is_busy).
class Busy {
 public:
  explicit Busy(fabric::Gate& gate) : gate_(gate) { gate_.peer_is_busy.store(1); }
  ~Busy() { gate_.peer_is_busy.store(0, std::memory_order_release); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  fabric::Gate& gate_;
};

}  // namespace falafel::shm
