// Which requests of a queue pair may move: the ordering table of the contract (fabric/fabric.h), the
// fence, the limit on outstanding READs and atomics, and what the responder admits.
#include <algorithm>
#include <bit>

#include "fabric/sim/host.h"
#include "fabric/sim/queue_pair.h"

namespace falafel::sim {

using fabric::Opcode;
using fabric::Transport;

namespace {
constexpr std::uint64_t window_requests = 64;  // that are looked at for work, from the oldest on
}

bool QueuePairCore::responder_admits() const {
  return options_.transport == Transport::unreliable_datagram ||
         (peer_ != nullptr && peer_->state_ == State::ready);
}

// True if no packet will be admitted again. (A peer that is still connecting will admit some.)
bool QueuePairCore::responder_is_lost() const { return peer_ != nullptr && peer_->is_dead(); }

// Data of this queue pair that was admitted and is not in place yet.
bool QueuePairCore::is_landing() const {
  if (host_.holds_landing()) return true;
  for (std::uint64_t index = released_; index < posted_; ++index) {
    const SendEntry& request = entry(index);
    if (request.phase == Phase::in_gap) return true;
    if (request.request.opcode == Opcode::write && request.phase != Phase::posted &&
        request.placement.has_unplaced()) {
      return true;
    }
  }
  return false;
}

bool QueuePairCore::may_flush() const {
  if (state_ != State::error) return false;
  if (oldest_ == posted_ && first_receive_ == posted_receives_) return false;
  if (peer_ == nullptr || !peer_->is_landing()) return true;
  return world_.options.failure_before_landing && has_failed_oldest();
}

// The request that broke the queue pair has not completed yet; those behind it will be flushed.
bool QueuePairCore::has_failed_oldest() const {
  return oldest_ != posted_ && entry(oldest_).status != fabric::CompletionStatus::success;
}

bool QueuePairCore::may_complete_oldest() const {
  if (state_ != State::ready || oldest_ == posted_) return false;
  return entry(oldest_).phase == Phase::answered || !is_reliable();
}

// What is behind such a request waits too: the send queue is issued in order.
bool QueuePairCore::must_wait_in_queue(SendEntry& request, const OrderingState& before) {
  if (request.phase != Phase::posted) return false;
  const bool fence = request.request.fenced && before.outstanding > 0;
  const bool limit = fabric::returns_data(request.request.opcode) &&
                     before.outstanding >= options_.max_outstanding_reads_and_atomics;
  if (!request.counted_wait && (fence || limit)) {
    request.counted_wait = true;
    world_.count(fence ? SimulatorProbe::request_waited_for_fence
                       : SimulatorProbe::request_waited_for_outstanding_limit);
  }
  return fence || limit;
}

// A request that has not had an effect yet.
bool QueuePairCore::may_start(SendEntry& request, const OrderingState& before) {
  if (before.unplaced_write || (request.waits_for_earlier && before.unanswered)) return false;
  if (!responder_admits()) return !is_reliable() && responder_is_lost();  // to be lost
  switch (request.request.opcode) {
    case Opcode::read: return !before.pending_atomic;
    case Opcode::write:
    case Opcode::compare_and_swap:
    case Opcode::fetch_and_add: return true;
    case Opcode::send: {
      const bool endless = is_reliable() && options_.receiver_not_ready_retry_count == 7;
      if (!endless || peer_->first_receive_ != peer_->posted_receives_) return true;
      if (!request.counted_wait) world_.count(SimulatorProbe::send_waited_for_receive);
      request.counted_wait = true;
      return false;
    }
    case Opcode::receive: break;
  }
  FALAFEL_ASSERT(false, "a receive in the send queue of {}", number_);
}

bool QueuePairCore::may_move(SendEntry& request, const OrderingState& before) {
  switch (request.phase) {
    case Phase::posted: return may_start(request, before);
    case Phase::in_gap: return true;
    case Phase::in_progress:
      if (request.request.opcode == Opcode::read) return responder_admits();
      return request.placement.has_unplaced() || responder_admits() ||
             (!is_reliable() && responder_is_lost());
    case Phase::answered: return !request.placed;
  }
  return false;
}

// What `request` means for those behind it.
void QueuePairCore::pass(const SendEntry& request, OrderingState& state) {
  const Opcode opcode = request.request.opcode;
  if (request.phase != Phase::answered) state.unanswered = true;
  if (fabric::returns_data(opcode)) {
    if (!request.completed) ++state.outstanding;
    if (fabric::is_atomic(opcode) && !request.placed) state.pending_atomic = true;
  } else if (!request.placed && !request.overtaken) {
    state.unplaced_write = true;
  }
}

// One past the last request that has left the send queue for the network.
std::uint64_t QueuePairCore::end_of_issued() {
  OrderingState state;
  std::uint64_t index = released_;
  while (index < posted_ && !must_wait_in_queue(entry(index), state)) {
    if (entry(index).refused) return index + 1;
    pass(entry(index++), state);
  }
  return index;
}

// Whether refresh() would find that the only request may start: by far the most common answer after posting.
bool QueuePairCore::starts_alone() const {
  if (posted_ - released_ != 1 || state_ != State::ready) return false;
  if (!is_reliable() || !responder_admits()) return false;
  const SendEntry& request = entry(released_);
  return request.phase == Phase::posted && request.request.opcode != Opcode::send;
}

void QueuePairCore::refresh() {
  const std::uint64_t queued = posted_ - released_;
  if (queued == 0) {
    movable_ = 0;
    can_complete_ = may_flush();
  } else if (queued == 1) {  // by far the most common: nothing is before it
    SendEntry& request = entry(released_);
    const bool is_done = request.phase == Phase::answered && request.placed;
    movable_ = !is_done && may_move(request, {}) ? 1 : 0;
    can_complete_ = may_complete_oldest() || may_flush();
  } else {
    find_movable();
    can_complete_ = may_complete_oldest() || may_flush();
  }
  world_.ready.set_work(*this, movable_ != 0 || can_complete_);
  if (retry_timer_set_ || (oldest_ != posted_ && responder_is_lost())) watch_responder();
}

void QueuePairCore::find_movable() {
  movable_ = 0;
  const std::uint64_t end = std::min(posted_, released_ + window_requests);
  OrderingState state;
  for (std::uint64_t index = released_; index < end; ++index) {
    SendEntry& request = entry(index);
    if (must_wait_in_queue(request, state)) break;
    if (!(request.phase == Phase::answered && request.placed) && may_move(request, state)) {
      movable_ |= std::uint64_t{1} << (index - released_);
    }
    if (request.refused) break;
    pass(request, state);
  }
}

// The time-out of a request starts when the responder is lost, not when the request is posted: as long as
// the responder lives, retransmission hides every delay.
void QueuePairCore::watch_responder() {
  const bool waits =
      is_reliable() && state_ == State::ready && responder_is_lost() && oldest_ != posted_;
  if (waits == retry_timer_set_) return;
  retry_timer_set_ = waits;
  if (waits) {
    world_.timers.set(retry_timer_, world_.trace.time_ns() + options_.acknowledge_timeout_ns *
                                                                 (options_.retry_count + 1U));
  } else {
    world_.timers.cancel(retry_timer_);
  }
}

}  // namespace falafel::sim
