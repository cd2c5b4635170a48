// The events of one object that a program has taken and not acknowledged yet. Destroying the object
// waits for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "fabric/fabric.h"

namespace falafel::simulated_verbs {

class UnacknowledgedEvents {
 public:
  explicit UnacknowledgedEvents(fabric::Host& host) : acknowledged_(host.create_event()) {}

  void add() { ++count_; }
  void acknowledge(std::uint64_t events) {
    count_ -= std::min(events, count_);
    acknowledged_->notify_all();
  }
  void wait_until_none() const {
    while (count_ > 0) acknowledged_->wait(fabric::never_ns);
  }

 private:
  std::unique_ptr<fabric::Event> acknowledged_;
  std::uint64_t count_ = 0;
};

}  // namespace falafel::simulated_verbs
