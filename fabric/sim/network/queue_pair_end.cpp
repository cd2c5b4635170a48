// How a queue pair ends: it fails, flushes what was posted, and is closed.
#include "fabric/sim/network/device_state.h"
#include "fabric/sim/network/queue_pair.h"
#include "fabric/sim/run/host_state.h"

namespace falafel::sim {

using fabric::CompletionStatus;
using State = Connection::State;

void QueuePairActor::break_connection() {
  if (!connection_.is_ready()) return;
  fail(CompletionStatus::retry_exceeded);
  end_stream(EndOfStream::Cause::broken);
}

bool QueuePairActor::has_undelivered_sends() const {
  world_.touch(Touchable::actor, actor_id(), Access::reads);
  return !sends_.empty();
}

bool QueuePairActor::peer_has_undelivered_sends() const {
  return connection_.peer()->has_undelivered_sends();
}

void QueuePairActor::hear_end_of_stream() {
  if (connection_.is_ready()) fail(CompletionStatus::retry_exceeded);
}

// The oldest request fails, and the others are flushed.
void QueuePairActor::fail(CompletionStatus status) {
  if (!sends_.all_completed()) {
    sends_.oldest().status = status;
    sends_.forget_faults_from(sends_.oldest_place() + 1);
  }
  failure_.leave_orphans();
  enter_error();
}

void QueuePairActor::move_to_error() {
  if (connection_.is_dead()) return;
  host().drain_stores();
  sends_.forget_faults_from(sends_.oldest_place());
  failure_.leave_orphans();
  enter_error();
  end_stream(EndOfStream::Cause::closed);
}

// The kernel tells the other end of a message stream, if it still can.
void QueuePairActor::end_stream(EndOfStream::Cause cause) const {
  QueuePairActor* const peer = connection_.peer();
  if (end_of_stream_ == nullptr || peer == nullptr) return;
  peer->end_of_stream_->send(host().life(), cause);
}

void QueuePairActor::enter_error() {
  connection_.change_state(State::error);
  world_.trace.record({.kind = EventKind::queue_pair_error, .subject = number()});
  if (QueuePairActor* peer = connection_.peer()) {
    peer->end_stall();  // its requests are refused from now on
    if (peer->is_landing()) world_.count(SimulatorProbe::fence_waited_for_landing);
    peer->refresh();
  }
  refresh();
}

// A flush waits until the data of the peer has landed. So does the completion of the first failure,
// unless the option failure_before_landing is set.
bool QueuePairActor::has_flush_to_make() const {
  receives_.touch_front(world_, Access::reads);
  if (sends_.all_completed() && !has_receives_to_flush()) return false;
  if (!peer_is_landing()) return true;
  return world_.options.failure_before_landing && has_failed_oldest();
}

// The requests of a shared receive queue stay for its other queue pairs.
bool QueuePairActor::has_receives_to_flush() const {
  return shared_receives_ == nullptr && !receives_.empty();
}

// The request that broke the queue pair has not completed yet.
bool QueuePairActor::has_failed_oldest() const {
  return !sends_.all_completed() && sends_.oldest().status != CompletionStatus::success;
}

void QueuePairActor::flush_one() {
  if (sends_.all_completed()) {
    responder_.flush_receive();
    return;
  }
  CompletionStatus status = CompletionStatus::flushed;
  if (has_failed_oldest()) {
    if (peer_is_landing()) world_.count(SimulatorProbe::failure_before_landing);
    status = sends_.oldest().status;
  }
  push_send_completion(sends_.oldest(), status);
  send_completions_.newest_has_failed();
}

// The responder admitted data or an atomic of this queue pair that is not in its memory yet.
bool QueuePairActor::is_landing() const {
  world_.touch(Touchable::actor, actor_id(), Access::reads);
  touch_all_requests(Touchable::writes);
  touch_all_requests(Touchable::atomics);
  if (host().holds_landing()) return true;
  for (std::uint64_t place = sends_.released(); place < sends_.posted(); ++place) {
    if (sends_.at(place).is_landing()) return true;
  }
  return false;
}

bool QueuePairActor::peer_is_landing() const {
  return connection_.peer() != nullptr && connection_.peer()->is_landing();
}

void QueuePairActor::close() {
  if (connection_.state() == State::closed) return;
  host().drain_stores();
  if (connection_.state() != State::error) failure_.leave_orphans(end_of_certain_delivery());
  connection_.change_state(State::closed);
  event_of_end_ = nullptr;
  sends_.complete_all();
  receives_.touch_all(world_);
  own_receives_.drop_all();
  sends_.release_done();
  connection_.stop_watching();
  end_stall();
  send_completions_.release(poll_effects_, connection_.options().max_send_requests);
  receive_completions_.release(poll_effects_,
                               shared_receives_ == nullptr
                                   ? connection_.options().max_receive_requests
                                   : shared_receives_->detach(*this, receive_completions_));
  world_.trace.record({.kind = EventKind::queue_pair_error, .detail = 1, .subject = number()});
  if (closing_notice_ != nullptr) closing_notice_->waiters().wake_all();
  end_stream(EndOfStream::Cause::closed);
  if (QueuePairActor* peer = connection_.peer()) {
    peer->end_stall();
    if (peer->closing_notice_ != nullptr && host().alive())
      peer->closing_notice_->send(host().life());
    if (connection_.device().attributes().destruction_drains) receive_what_lands();
    peer->refresh();
  }
  refresh();
}

// Messages that the kernel has accepted on a message stream still arrive, if the kernel survives.
std::uint64_t QueuePairActor::end_of_certain_delivery() const {
  return connection_.is_stream() && host().alive() ? sends_.oldest_place() : 0;
}

bool QueuePairActor::wait_until_peer_closed(std::uint64_t deadline_ns) {
  FALAFEL_ASSERT(closing_notice_ != nullptr,
                 "queue pair {} does not hear that its peer closes; set hears_close in its options",
                 number());
  Fiber& fiber = world_.current_fiber();
  connection_.touch(Access::reads);
  while (!closing_notice_->has_arrived() && connection_.state() != State::closed) {
    fiber.wait(&closing_notice_->waiters(), deadline_ns, "the peer to close");
    if (fiber.cancelled() || fiber.read_clock(host().clock()) >= deadline_ns) break;
  }
  return closing_notice_->has_arrived() && connection_.state() != State::closed;
}

void QueuePairActor::receive_what_lands() {
  if (connection_.peer() == nullptr) return;
  connection_.peer()->land();
  connection_.show_writes_of_peer(all_places);
}

// Completes all admitted requests in memory at once.
void QueuePairActor::land() {
  for (std::uint64_t place = sends_.released(); place < sends_.posted(); ++place) {
    Request& request = sends_.at(place);
    if (request.state == RequestState::in_gap) atomics_.finish(request);
    while (request.is_landing()) {
      transfers_.progress(request, {.only_lands = true});
    }
  }
  sends_.release_done();
}

void QueuePairActor::end_landing_after_close() {
  if (connection_.state() != State::closed || connection_.peer() == nullptr) return;
  receive_what_lands();
  connection_.peer()->refresh();
}

}  // namespace falafel::sim
