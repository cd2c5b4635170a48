// The requests of a send queue that bind and invalidate memory windows (memory_windows.h). They
// concern this host alone, and take one step.
#pragma once

#include <cstdint>

#include "fabric/sim/network/connection.h"
#include "fabric/sim/network/send_queue.h"

namespace falafel::sim {

class WindowRequests {
 public:
  WindowRequests(const Connection& connection, SendQueue& queue)
      : connection_(connection), queue_(queue) {}

  void progress(Request& request);

 private:
  bool bind(const fabric::WorkRequest& work) const;

  const Connection& connection_;
  SendQueue& queue_;
};

// Ends a window of that queue pair. Returns false if it has no such window, or it is not bound.
bool invalidate_window(const Connection& connection, std::uint32_t remote_key);

}  // namespace falafel::sim
