// Prevents a long walk over memory from delaying other fibers of the server, such as those that
// receive heartbeats and accept connections.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"

namespace falafel::engine {

class Pace {
 public:
  explicit Pace(fabric::Host& host) : host_(host) {}

  // Call after examining `work` words or bytes. May wait, but only to let other fibers run.
  void step(std::uint64_t work) {
    done_ += work;
    if (done_ < work_per_turn) return;
    done_ = 0;
    host_.yield();
  }

 private:
  // Takes between about 10 and 100 microseconds with cold caches.
  static constexpr std::uint64_t work_per_turn = 1'024;

  fabric::Host& host_;
  std::uint64_t done_ = 0;
};

}  // namespace falafel::engine
