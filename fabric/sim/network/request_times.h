// The times of the requests of one queue pair, in a timed run. A request passes through resources
// of both cards, which serve in the order of arrival:
//
//   1. on its way      doorbell, the requester's pipeline, the bus (the data of a WRITE or SEND),
//                      the link, wire and switch
//   2. arrival         the link into the responder's card, its pipeline, the bus
//   3. effect          the memory of the responder changes or is read: the step of the simulator;
//                      of a longer transfer, once for each packet
//   4. answer          the link, wire and switch, the bus at the requester
//   5. completion      the processor can poll it
//
// Under the condition polls_buffers, the end of an answer is a step, too: it lands in the memory of
// the requester.
//
// On a message stream, a message takes effect as a whole, when the receiver's kernel has woken the
// program, and its request completes when it is posted, because the kernel has it then.
//
// Each of the steps 2, 3 and 5 is a step of the queue pair at its time, so that requests of several
// clients reach a resource in order. The ordering rules decide what may take effect and complete;
// time only decides when.
#pragma once

#include <cstdint>

#include "fabric/sim/network/connection.h"
#include "fabric/sim/network/ring.h"
#include "fabric/sim/network/send_queue.h"
#include "fabric/sim/timing/cost_model.h"

namespace falafel::sim::timing {

class RequestTimes {
 public:
  RequestTimes(CostModel& costs, Card& card, const Connection& connection, SendQueue& queue)
      : costs_(costs), card_(card), connection_(connection), queue_(queue) {}

  // Call before requests are appended to the send queue.
  void make_room(std::uint64_t requests);
  // The requests before this place have left the send queue.
  void set_out_until(std::uint64_t end);

  enum class Step : std::uint8_t { none, arrival, effect, landing, completion };
  struct Next {
    Step step = Step::none;
    std::uint64_t place = 0;
    std::uint64_t due_ns = fabric::never_ns;
  };
  // The next step. `movable`: as Ordering::find_movable.
  Next next(std::uint64_t movable, bool can_complete) const;

  void arrive(const Request& request);
  // The request, or a packet of it, has taken effect, or it found that it cannot.
  void take_effect(const Request& request);
  // The answer has landed.
  void land(const Request& request) { progress_[request.place].lands_ns = 0; }

 private:
  enum class Stage : std::uint8_t { on_its_way, at_responder, answered };
  struct Progress {
    Stage stage = Stage::on_its_way;
    std::uint64_t due_ns = 0;           // of the next step
    std::uint64_t completes_ns = 0;     // once it is answered; without an answer: once it is sent
    std::uint64_t lands_ns = 0;         // its answer, in a step of its own; 0: none is to land
    std::uint64_t packet_ps = 0;        // when the next packet arrives (READ: when its data does)
    std::uint64_t begin_ps = 0;         // when the responder began with the last packet
    std::uint64_t effective_bytes = 0;  // that have taken effect
  };

  struct Side {
    Card& card;
    QueuePairContext* context;  // null: no queue pair
  };

  std::uint64_t now_ps() const;
  void set_out(const Request& request);
  std::uint64_t completion_due_ns() const;
  Side responder_of(const Request& request) const;
  std::uint64_t fetch_ps(const Side& side) const;
  std::uint64_t link_ps(const Request& request) const;
  std::uint64_t packet_bytes(const Request& request, std::uint64_t position) const;
  bool has_pipelines_of_messages(const Request& request) const;
  Resource& requester_of(const Request& request) const;
  Resource& pipeline_of(const Request& request, Card& responder) const;
  std::uint64_t requester_interval_ps(const Request& request) const;
  std::uint64_t interval_ps(const Request& request) const;
  void read_packet(const Request& request, Progress& progress, std::uint64_t from_ps);
  void place_packet(const Request& request, Progress& progress, std::uint64_t arrival_ps);
  void place_message(const Request& request, Progress& progress);
  void answer(const Request& request, Progress& progress);
  std::uint64_t return_ps(Card& responder, std::uint64_t from_ps, std::uint64_t bytes);
  void go_on(const Request& request, Progress& progress);

  CostModel& costs_;
  Card& card_;
  const Connection& connection_;
  SendQueue& queue_;
  Ring<Progress> progress_;
  std::uint64_t set_out_end_ = 0;
  QueuePairContext context_;  // the state of this queue pair in the cache of its card
};

}  // namespace falafel::sim::timing
