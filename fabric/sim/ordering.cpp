#include "fabric/sim/ordering.h"

#include <algorithm>

#include "fabric/sim/responder.h"

namespace falafel::sim {

using fabric::Opcode;

std::uint64_t Ordering::find_movable() {
  std::uint64_t movable = 0;
  const std::uint64_t end = std::min(queue_.announced(), queue_.released() + window_requests);
  Earlier earlier;
  end_of_window_ = queue_.released();
  for (std::uint64_t place = queue_.released(); place < end; ++place) {
    Request& request = queue_.at(place);
    if (must_wait_in_queue(request, earlier)) {
      end_of_waiting_ = std::max(end_of_waiting_, end);
      break;
    }
    if (may_move(request, earlier)) movable |= std::uint64_t{1} << (place - queue_.released());
    if (queue_.is_refused(request)) break;
    earlier.add(request, queue_.is_completed(request));
    end_of_window_ = place + 1;
  }
  return movable;
}

std::uint64_t Ordering::end_of_issued() {
  Earlier earlier;
  std::uint64_t place = queue_.released();
  while (place < queue_.announced() && !must_wait_in_queue(queue_.at(place), earlier)) {
    const Request& request = queue_.at(place++);
    if (queue_.is_refused(request)) break;
    earlier.add(request, queue_.is_completed(request));
  }
  return place;
}

void Ordering::Earlier::add(const Request& request, bool is_completed) {
  if (!request.is_answered()) unanswered = true;
  if (fabric::returns_data(request.work.opcode)) {
    if (!is_completed) ++outstanding;
    if (request.is_atomic() && !request.is_done()) pending_atomic = true;
  } else if (!request.is_done() && request.state != RequestState::overtakable) {
    unplaced_write = true;
  }
}

// Requests leave the send queue in order, so the later ones wait too.
bool Ordering::must_wait_in_queue(Request& request, const Earlier& earlier) {
  if (request.has_started()) return false;
  const bool fence = request.work.fenced && earlier.outstanding > 0;
  const bool limit = fabric::returns_data(request.work.opcode) &&
                     earlier.outstanding >= connection_.options().max_outstanding_reads_and_atomics;
  if (fence) {
    hold_back(request, SimulatorProbe::request_waited_for_fence);
  } else if (limit) {
    hold_back(request, SimulatorProbe::request_waited_for_outstanding_limit);
  }
  return fence || limit;
}

// Counts the wait once per request.
void Ordering::hold_back(Request& request, SimulatorProbe probe) {
  if (request.state != RequestState::posted) return;
  connection_.world().count(probe);
  request.state = RequestState::held_back;
}

bool Ordering::may_move(Request& request, const Earlier& earlier) {
  switch (request.state) {
    case RequestState::posted:
    case RequestState::held_back:
    case RequestState::overtakable:
    case RequestState::refusal_deferred: return may_start(request, earlier);
    case RequestState::moving:
      if (connection_.responder_admits()) return may_go_on(request);
      if (request.is_read()) return false;
      return request.placement.has_unplaced() ||
             (!connection_.is_reliable() && connection_.responder_is_lost());
    case RequestState::in_gap:
    case RequestState::landing: return true;
    case RequestState::done: return false;
  }
  return false;
}

bool Ordering::may_start(Request& request, const Earlier& earlier) {
  if (earlier.unplaced_write) return false;
  if (request.state == RequestState::refusal_deferred && earlier.unanswered) return false;
  if (!connection_.responder_admits()) {  // on UC the request is lost then
    return !connection_.reports_failures() && connection_.responder_is_lost();
  }
  switch (request.work.opcode) {
    case Opcode::read: return !earlier.pending_atomic;
    case Opcode::write:
    case Opcode::compare_and_swap:
    case Opcode::fetch_and_add:
    case Opcode::masked_compare_and_swap:
    case Opcode::masked_fetch_and_add: return true;
    case Opcode::send:
    case Opcode::send_with_immediate: return has_or_tries_receive_request(request);
    case Opcode::write_with_immediate:
      return request.work.length_bytes > 0 || has_or_tries_receive_request(request);
    case Opcode::receive:
    case Opcode::receive_of_write: break;
  }
  FALAFEL_ASSERT(false, "a receive in the send queue of {}", connection_.number());
}

// Whether a transfer under way, which the responder admits, can make a step. Data needs no receive
// request.
bool Ordering::may_go_on(Request& request) {
  if (!request.awaits_receive_request() || !request.placement.finished()) return true;
  return has_or_tries_receive_request(request);
}

// With endless retries, a request that needs a receive request waits for one. Otherwise it tries,
// and may fail or be lost.
bool Ordering::has_or_tries_receive_request(Request& request) {
  if (!connection_.retries_endlessly() || connection_.responder().has_receive_request())
    return true;
  hold_back(request, SimulatorProbe::send_waited_for_receive);
  return false;
}

}  // namespace falafel::sim
