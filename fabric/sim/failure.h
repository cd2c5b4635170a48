// How requests end without success, and what a failed queue pair leaves in the network.
//
// Requests that are under way when their queue pair fails become orphans: they may still take effect, but nobody
// is notified. A choice decides which of them the network still carries on.
#pragma once

#include <cstdint>

#include "fabric/sim/connection.h"
#include "fabric/sim/ordering.h"
#include "fabric/sim/send_queue.h"

namespace falafel::sim {

class Failure {
 public:
  Failure(const Connection& connection, SendQueue& queue, Ordering& ordering)
      : connection_(connection), queue_(queue), ordering_(ordering) {}

  // The request has no further effect and no answer.
  void drop(Request& request);
  // The responder refuses the request. On RC both sides fail, once the earlier requests have been answered; on UC
  // and UD the request is dropped.
  void refuse(Request& request, fabric::CompletionStatus status);
  // Defers the refusal if an earlier request has no answer yet; returns whether it did.
  bool defer_refusal(Request& request) const;
  // This side gives up: decides what becomes of its requests. The network carries a prefix of them on, the last
  // of these perhaps in part; the others never left.
  void leave_orphans();

 private:
  bool is_in_doubt(const Request& request, std::uint64_t end_of_issued) const;
  void drop_orphan(Request& request);
  void carry_on_in_part(Request& request);
  static void cut_short(Request& request);

  const Connection& connection_;
  SendQueue& queue_;
  Ordering& ordering_;
};

}  // namespace falafel::sim
