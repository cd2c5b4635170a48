// The mark by which the owner of memory sees that a peer carries out requests there.
#pragma once

#include <atomic>

#include "fabric/realtime/gate.h"

namespace falafel::shm {

// While it lives, the peer sees that its memory is in use (Gate::peer_is_busy). The mark, and all
// stores of the program before it, come before the look at the gate and before all requests.
class Busy {
 public:
  explicit Busy(fabric::Gate& gate) : gate_(gate) {
#if defined(__x86_64__)
    gate_.peer_is_busy.store(1);  // locked, so it is a fence, and cheaper than one with clang
#else
    // Without the fence, an acquiring load may overtake the store, as ARM's LDAPR overtakes STLR.
    gate_.peer_is_busy.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }
  ~Busy() { gate_.peer_is_busy.store(0, std::memory_order_release); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  fabric::Gate& gate_;
};

}  // namespace falafel::shm
