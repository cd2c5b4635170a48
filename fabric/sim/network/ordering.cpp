#include "fabric/sim/network/ordering.h"

#include <algorithm>

#include "fabric/sim/network/responder.h"

namespace falafel::sim {

using fabric::Opcode;
using fabric::RegionOrdering;

namespace {

// The meaning of earlier requests for one.
struct Earlier {
  bool unplaced_write = false;    // a WRITE or SEND has not taken effect
  bool pending_atomic = false;    // an atomic has not taken effect
  bool unanswered = false;        // a request has no answer
  std::uint32_t outstanding = 0;  // READs and atomics that have not completed

  void add(const Request& request, bool is_completed) {
    if (!request.is_answered()) unanswered = true;
    if (fabric::returns_data(request.work.opcode)) {
      if (!is_completed) ++outstanding;
      if (request.is_atomic() && !request.is_done()) pending_atomic = true;
    } else if (!request.is_done() && request.state != RequestState::overtakable) {
      unplaced_write = true;
    }
  }
};

// Counts the wait once per request.
void hold_back(const Connection& connection, Request& request, SimulatorProbe probe) {
  if (request.state != RequestState::posted) return;
  connection.world().count(probe);
  request.state = RequestState::held_back;
}

// Requests leave the send queue in order, so the later ones wait too.
bool must_wait_in_queue(const Connection& connection, Request& request, const Earlier& earlier) {
  if (earlier.outstanding == 0 || request.has_started()) return false;
  const bool limit = fabric::returns_data(request.work.opcode) &&
                     earlier.outstanding >= connection.options().max_outstanding_reads_and_atomics;
  if (request.work.fenced) {
    hold_back(connection, request, SimulatorProbe::request_waited_for_fence);
  } else if (limit) {
    hold_back(connection, request, SimulatorProbe::request_waited_for_outstanding_limit);
  }
  return request.work.fenced || limit;
}

// With endless retries, a request that needs a receive request waits for one. Otherwise it tries,
// and may fail or be lost.
bool has_or_tries_receive_request(const Connection& connection, Request& request) {
  if (!connection.retries_endlessly() || connection.responder().has_receive_request()) return true;
  hold_back(connection, request, SimulatorProbe::send_waited_for_receive);
  return false;
}

// Only the order in memory is weak, not the one in which packets arrive, and a WRITE that has
// completed stays before whatever follows.
bool can_be_passed(const Connection& connection, const SendQueue& queue, const Request& write) {
  if (!write.is_write() || write.state != RequestState::landing) return false;
  return !connection.is_reliable() || !queue.is_completed(write);
}

// The regions of the WRITEs before a READ or WRITE, or its own, may permit that it takes effect
// before them. The receive completion of a WRITE with immediate promises what is before it.
bool may_pass_writes(const Connection& connection, const SendQueue& queue, const Request& request) {
  if (!connection.world().regions.has_weak_ordering()) return false;
  if (!request.is_read() && request.work.opcode != Opcode::write) return false;
  const Responder* const responder = connection.responder_or_null();
  if (responder == nullptr) return false;
  const RegionOrdering own = responder->ordering_for(request.work);
  if (request.is_read() && own != RegionOrdering::unordered) return false;
  for (std::uint64_t place = queue.released(); place < request.place; ++place) {
    const Request& earlier = queue.at(place);
    if (earlier.is_done() || fabric::returns_data(earlier.work.opcode)) continue;
    if (!can_be_passed(connection, queue, earlier)) return false;
    if (std::max(own, earlier.ordering) == RegionOrdering::strong) return false;
  }
  return true;
}

bool may_start(const Connection& connection, const SendQueue& queue, Request& request,
               const Earlier& earlier) {
  if (earlier.unplaced_write && !may_pass_writes(connection, queue, request)) return false;
  if (fabric::is_of_window(request.work.opcode)) return true;  // it does not leave this host
  if (request.state == RequestState::refusal_deferred && earlier.unanswered) return false;
  if (!connection.responder_admits()) {  // on UC the request is lost then
    return !connection.reports_failures() && connection.responder_is_lost();
  }
  if (request.is_read()) return !earlier.pending_atomic;
  if (!fabric::needs_receive_request(request.work.opcode)) return true;
  const bool brings_data_first = request.is_write() && request.work.length_bytes > 0;
  return brings_data_first || has_or_tries_receive_request(connection, request);
}

// Returns whether a READ or WRITE that has started can make a step. Data needs no receive request.
bool may_go_on(const Connection& connection, Request& request) {
  if (connection.responder_admits()) {
    return !request.awaits_receive_request() || !request.placement.finished() ||
           has_or_tries_receive_request(connection, request);
  }
  if (request.is_read()) return false;
  return request.placement.has_unplaced() ||
         (!connection.is_reliable() && connection.responder_is_lost());
}

bool may_move(const Connection& connection, const SendQueue& queue, Request& request,
              const Earlier& earlier) {
  if (!request.has_started()) return may_start(connection, queue, request, earlier);
  if (request.state == RequestState::moving) return may_go_on(connection, request);
  return !request.is_done();
}

}  // namespace

std::uint64_t Ordering::find_movable() {
  std::uint64_t movable = 0;
  std::uint64_t place = queue_.released();
  const std::uint64_t end = std::min(queue_.announced(), place + window_requests);
  Earlier earlier;
  for (std::uint64_t bit = 1; place < end; ++place, bit <<= 1U) {
    Request& request = queue_.at(place);
    if (must_wait_in_queue(connection_, request, earlier)) {
      end_of_waiting_ = std::max(end_of_waiting_, end);
      break;
    }
    if (may_move(connection_, queue_, request, earlier)) movable |= bit;
    if (queue_.is_refused(request)) break;
    earlier.add(request, queue_.is_completed(request));
  }
  end_of_window_ = place;
  return movable;
}

std::uint64_t Ordering::end_of_issued() {
  Earlier earlier;
  std::uint64_t place = queue_.released();
  while (place < queue_.announced() &&
         !must_wait_in_queue(connection_, queue_.at(place), earlier)) {
    const Request& request = queue_.at(place++);
    if (queue_.is_refused(request)) break;
    earlier.add(request, queue_.is_completed(request));
  }
  return place;
}

}  // namespace falafel::sim
