// Keeps a long walk over memory from holding up the other fibers of the server, such as those that
// receive heartbeats and accept connections.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"

namespace falafel::engine {

class Pace {
 public:
  explicit Pace(fabric::Host& host) : host_(host) {}

  // So many words or bytes have been looked at. May wait, for nothing in particular.
  void step(std::uint64_t work) {
    done_ += work;
    if (done_ < work_per_turn) return;
    done_ = 0;
    host_.yield();
  }

 private:
  // Some 10 microseconds of a processor whose caches have none of it, and less than 100.
  static constexpr std::uint64_t work_per_turn = 1'024;

  fabric::Host& host_;
  std::uint64_t done_ = 0;
};

}  // namespace falafel::engine
