// READs and WRITEs on their way: each step brings a packet to the responder, or moves some of the words of the
// packets that have arrived.
#pragma once

#include "fabric/sim/connection.h"
#include "fabric/sim/failure.h"
#include "fabric/sim/request.h"
#include "fabric/sim/send_queue.h"

namespace falafel::sim {

class Transfers {
 public:
  Transfers(const Connection& connection, const SendQueue& queue, Failure& failure)
      : connection_(connection), queue_(queue), failure_(failure) {}

  void progress(Request& request);
  // Moves all words that have arrived, now.
  void land(Request& request);

 private:
  bool start(Request& request);
  void next_packet(Request& request);
  void move_words(Request& request);
  void read_words(const Request& request, const Placement::Range& range, std::byte* remote);
  void write_words(const Request& request, const Placement::Range& range, std::byte* remote);
  void settle(Request& request);

  const Connection& connection_;
  const SendQueue& queue_;
  Failure& failure_;
};

}  // namespace falafel::sim
