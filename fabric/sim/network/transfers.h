// The steps of READs and WRITEs. In each step, a packet reaches the responder, or some words of the
// packets that have arrived are moved, or both.
#pragma once

#include <vector>

#include "fabric/sim/network/connection.h"
#include "fabric/sim/network/failure.h"
#include "fabric/sim/network/request.h"
#include "fabric/sim/network/send_queue.h"

namespace falafel::sim {

// The sufficient answers to the questions of a step, which may be those of one lane.
struct TransferAnswers {
  Answers arrival = all_answers;  // 0: a packet arrives
  Answers units = all_answers;    // which unit is moved
  bool only_lands = false;        // no packet arrives; words of earlier ones are moved
};

class Transfers {
 public:
  Transfers(const Connection& connection, const SendQueue& queue, Failure& failure)
      : connection_(connection), queue_(queue), failure_(failure) {}

  void progress(Request& request, const TransferAnswers& answers);
  // Tells if the next packet of the request can make a step of its own: arrive, be lost or refused.
  bool can_arrive(const Request& request) const;

 private:
  const Connection& connection_;
  const SendQueue& queue_;
  Failure& failure_;
  std::vector<std::byte> scratch_;  // a member only to reuse its memory
};

}  // namespace falafel::sim
