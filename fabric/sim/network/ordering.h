// Decides which requests of a send queue may make a step, by the ordering table of the contract
// (fabric/fabric.h), the orders of regions, the fence, the limit on outstanding READs and atomics,
// and the state of the responder.
#pragma once

#include <cstdint>

#include "fabric/sim/network/connection.h"
#include "fabric/sim/network/send_queue.h"

namespace falafel::sim {

class Ordering {
 public:
  Ordering(const Connection& connection, SendQueue& queue)
      : connection_(connection), queue_(queue) {}

  // Bit i: the request at place released() + i may make a step. Only the oldest requests are looked
  // at, as many as there are bits.
  std::uint64_t find_movable();
  // One past the last request that has left the send queue and is not refused, as far as
  // find_movable() looked at last.
  std::uint64_t end_of_window() const { return end_of_window_; }

  // One past the last request that has left the send queue for the network.
  std::uint64_t end_of_issued();

  // Requests before this place may have waited for the completion of earlier ones.
  std::uint64_t end_of_waiting() const { return end_of_waiting_; }

  // The number of requests that find_movable() looks at.
  static constexpr std::uint64_t window_requests = 64;

 private:
  const Connection& connection_;
  SendQueue& queue_;
  std::uint64_t end_of_window_ = 0;
  std::uint64_t end_of_waiting_ = 0;
};

}  // namespace falafel::sim
