// The signal that a daemon fiber of the server waits for: there is work to do.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/cooperative_cancellation.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class WorkSignal {
 public:
  explicit WorkSignal(fabric::Host& host) : host_(host), raised_event_(host.create_event()) {}

  void raise() {
    raised_ = true;
    raised_event_->notify_all();
  }
  bool is_raised() const { return raised_; }

  // Waits until the signal is raised, and lowers it, or until the deadline. Returns false if the
  // fiber is cancelled. The fiber may end inside this call.
  bool take(std::uint64_t deadline_ns = fabric::never_ns) {
    const fabric::CooperativeCancellation cooperative(host_);
    while (!raised_ && !host_.is_cancelled() && host_.now_ns() < deadline_ns) {
      raised_event_->wait(deadline_ns);
    }
    if (host_.is_cancelled()) return false;
    raised_ = false;
    return true;
  }

 private:
  fabric::Host& host_;
  std::unique_ptr<fabric::Event> raised_event_;
  bool raised_ = false;
};

}  // namespace falafel::engine
