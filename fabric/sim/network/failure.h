// Requests that end without success, and the requests that a failed queue pair leaves in the
// network.
//
// Requests in flight when their queue pair fails become orphans: they may still take effect, but
// the program is not notified. A choice decides which of them the network still delivers.
#pragma once

#include <cstdint>

#include "fabric/sim/network/connection.h"
#include "fabric/sim/network/ordering.h"
#include "fabric/sim/network/send_queue.h"

namespace falafel::sim {

class Failure {
 public:
  Failure(const Connection& connection, SendQueue& queue, Ordering& ordering)
      : connection_(connection), queue_(queue), ordering_(ordering) {}

  // Ends the request: it has no further effect and no answer.
  void drop(Request& request);
  // Ends the request because the responder refuses it. On RC, both sides fail after the earlier
  // requests have been answered. On a message stream, the responder fails, and the other side
  // learns of the end. On UC and UD, the request is dropped.
  void refuse(Request& request, fabric::CompletionStatus status);
  // No receive request is there for the request. On RC, it tries again at its next step, and is
  // refused after too many tries. On UC and UD, it is dropped.
  void find_no_receive_request(Request& request);
  // Defers the refusal if an earlier request has no answer yet; returns whether it did.
  bool defer_refusal(Request& request) const;
  // Decides what happens to the requests of this side, which is about to fail. The network delivers
  // a prefix of them, and possibly a part of the next one. The others are dropped. Those before
  // the place `certain_end` are delivered in any case.
  void leave_orphans(std::uint64_t certain_end = 0);

 private:
  bool is_in_doubt(const Request& request, std::uint64_t end_of_issued) const;
  void drop_orphan(Request& request);
  void deliver_part(Request& request);
  bool admits_next_packet(const Request& request) const;
  void cut_short(Request& request) const;
  void touch_connection() const;

  const Connection& connection_;
  SendQueue& queue_;
  Ordering& ordering_;
};

}  // namespace falafel::sim
