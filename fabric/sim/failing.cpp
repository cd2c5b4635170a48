// The failure of a queue pair: which of the requests under way the network still carries on, and the
// flushing of the others.
#include "fabric/sim/host.h"
#include "fabric/sim/queue_pair.h"

namespace falafel::sim {

using fabric::CompletionStatus;
using fabric::Opcode;

// The oldest request fails, the others will be flushed.
void QueuePairCore::fail(CompletionStatus status) {
  if (oldest_ != posted_) entry(oldest_).status = status;
  leave_orphans();
  enter_error();
}

void QueuePairCore::break_connection() {
  if (state_ == State::ready) fail(CompletionStatus::retry_exceeded);
}

void QueuePairCore::move_to_error() {
  if (is_dead()) return;
  leave_orphans();
  enter_error();
}

void QueuePairCore::enter_error() {
  state_ = State::error;
  world_.trace.record({.kind = EventKind::queue_pair_error, .subject = number_});
  if (peer_ != nullptr) {
    peer_->end_stall();  // what it had in the network is refused from now on
    if (peer_->is_landing()) world_.count(SimulatorProbe::fence_waited_for_landing);
    peer_->refresh();
  }
  refresh();
}

void QueuePairCore::flush_one() {
  if (oldest_ != posted_) {
    SendEntry& request = entry(oldest_);
    if (has_failed_oldest() && peer_ != nullptr && peer_->is_landing()) {
      world_.count(SimulatorProbe::failure_before_landing);
    }
    push_send_completion(request, request.status == CompletionStatus::success
                                      ? CompletionStatus::flushed
                                      : request.status);
    return;
  }
  const fabric::ReceiveRequest& receive = receives_[first_receive_++];
  fabric::WorkCompletion flushed;
  flushed.id = receive.id;
  flushed.status = CompletionStatus::flushed;
  push_receive_completion(flushed);
}

// No effect, no answer.
void QueuePairCore::drop(SendEntry& request) {
  trace(EventKind::request_lost, request, 0, 0, {});
  cut_short(request);
}

// Nothing more of the request arrives; what has arrived still lands.
void QueuePairCore::cut_short(SendEntry& request) {
  const bool has_arrived =
      request.phase == Phase::in_progress && request.request.opcode == Opcode::write;
  if (has_arrived) request.placement.truncate();
  request.placed = !has_arrived || request.placement.finished();
  request.phase = Phase::answered;
}

// Decides what becomes of the requests that were under way when this side gave up: the network carries a
// prefix of them on, the last of these perhaps in part; the rest never left.
void QueuePairCore::leave_orphans() {
  const std::uint64_t issued = end_of_issued();
  const auto is_in_doubt = [&](std::uint64_t index) {
    const SendEntry& request = entry(index);
    return index < issued && request.request.opcode != Opcode::read &&
           (request.phase == Phase::posted || request.phase == Phase::in_progress);
  };
  std::uint64_t in_doubt = 0;
  for (std::uint64_t index = released_; index < posted_; ++index) in_doubt += is_in_doubt(index);
  std::uint64_t surviving = world_.choose(ChoiceKind::survivors, in_doubt + 1);
  bool cut_next = true;
  for (std::uint64_t index = released_; index < posted_; ++index) {
    SendEntry& request = entry(index);
    if (request.phase == Phase::in_gap || (request.phase == Phase::answered && request.placed)) {
      continue;
    }
    if (request.request.opcode == Opcode::write || request.request.opcode == Opcode::send) {
      take_payload(request);
    }
    if (request.phase == Phase::answered) continue;
    if (is_in_doubt(index) && surviving > 0) {
      --surviving;
    } else if (is_in_doubt(index) && cut_next) {
      cut_next = false;
      orphan_in_part(request);
    } else {
      world_.count(SimulatorProbe::orphan_dropped);
      drop(request);
    }
  }
}

// Of the packets that have not arrived some still do; a WRITE lands in part.
void QueuePairCore::orphan_in_part(SendEntry& request) {
  const std::uint64_t mtu_bytes = world_.options.mtu_bytes;
  const std::uint64_t arrived_bytes =
      request.phase == Phase::posted ? 0 : request.placement.arrived_bytes();
  const std::uint64_t length_bytes = request.request.length_bytes;
  const std::uint64_t packets_left = (length_bytes - arrived_bytes + mtu_bytes - 1) / mtu_bytes;
  const bool is_write = request.request.opcode == Opcode::write;
  std::uint64_t packets =
      is_write && packets_left > 0 ? world_.choose(ChoiceKind::survivors, packets_left) : 0;
  if (arrived_bytes + packets > 0) world_.count(SimulatorProbe::write_torn_by_failure);
  if (request.phase == Phase::posted && packets > 0) {
    request.surviving_bytes = packets * mtu_bytes;
    return;
  }
  while (packets-- > 0 && responder_admits()) request.placement.next_packet_arrives();
  world_.count(SimulatorProbe::orphan_dropped);
  drop(request);
}

void QueuePairCore::close() {
  if (state_ == State::closed) return;
  if (state_ != State::error) leave_orphans();
  state_ = State::closed;
  oldest_ = posted_;
  first_receive_ = posted_receives_;
  release_finished();
  world_.timers.cancel(retry_timer_);
  end_stall();
  send_completions_.release(*this, options_.max_send_requests);
  receive_completions_.release(*this, options_.max_receive_requests);
  world_.trace.record({.kind = EventKind::queue_pair_error, .detail = 1, .subject = number_});
  if (peer_ != nullptr) {
    peer_->end_stall();
    if (device_.attributes().destruction_drains) {
      peer_->land();
      show_writes_of_peer(all_places);
    }
    peer_->refresh();
  }
  refresh();
}

// Everything that has been admitted, now.
void QueuePairCore::land() {
  for (std::uint64_t index = released_; index < posted_; ++index) {
    SendEntry& request = entry(index);
    if (request.phase == Phase::in_gap) finish_atomic(request);
    if (request.request.opcode != Opcode::write || request.phase == Phase::posted) continue;
    while (request.placement.has_unplaced()) place_words(request);
    settle(request);
  }
  release_finished();
}

}  // namespace falafel::sim
