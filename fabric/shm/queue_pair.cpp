#include "fabric/shm/queue_pair.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "fabric/realtime/clock.h"
#include "fabric/shm/completion_queue.h"
#include "fabric/shm/host.h"
#include "fabric/shm/receive_ring.h"

namespace falafel::shm {

using fabric::CompletionStatus;
using fabric::Opcode;
using fabric::QueuePairState;

namespace {

// A SEND that waits for a receive request counts one retry per interval.
constexpr std::uint64_t receiver_not_ready_interval_ns = 1'000'000;
constexpr std::uint32_t endless_retries = 7;
// How often to check whether the peer has left the memory: often soon after the fence, then less
// and less, because a stopped peer may stay there forever. A flush is late by a sixteenth of its
// wait at most.
constexpr std::uint64_t shortest_drain_interval_ns = 50'000;
constexpr std::uint64_t longest_drain_interval_ns = 10'000'000;
constexpr std::uint64_t drain_intervals_per_wait = 16;
// How often to check whether another process keeps the memory of the peer's process, which has
// ended. It closes the gate and wakes nobody.
constexpr std::uint64_t gate_check_interval_ns = 1'000'000;

}  // namespace

QueuePair::QueuePair(Host& host, const fabric::QueuePairOptions& options, std::uint32_t number,
                     std::uint64_t domain)
    : host_(host),
      options_(options),
      number_(number),
      domain_(domain),
      send_completions_(static_cast<CompletionQueue&>(*options.send_completions)),
      receive_completions_(static_cast<CompletionQueue&>(*options.receive_completions)),
      local_keys_(host.arena(), domain),
      waiting_(options.max_send_requests),
      receive_ids_(std::bit_ceil(options.max_receive_requests)) {
  host_.add(*this);
  send_completions_.reserve(options.max_send_requests);
  receive_completions_.reserve(options.max_receive_requests);
}

QueuePair::~QueuePair() { close(); }

void QueuePair::attach(std::shared_ptr<Link> link) {
  FALAFEL_ASSERT(link_ == nullptr && !closed_, "queue pair {} is attached twice", number_);
  FALAFEL_ASSERT(link->own().domain == domain_, "queue pair {} of domain {} got a link of {}",
                 number_, domain_, link->own().domain);
  link_ = std::move(link);
  remote_keys_ = KeyCache(link_->peer_arena(), link_->peer().domain);
}

QueuePairState QueuePair::state() const {
  if (closed_) return QueuePairState::closed;
  return is_in_error() || link_->is_lost() ? QueuePairState::error : QueuePairState::ready;
}

void QueuePair::move_to_error() {
  if (closed_) return;
  GateState expected = GateState::ready;
  link_->own_gate().state.compare_exchange_strong(expected, GateState::error);
  progress();
}

void QueuePair::close() {
  if (closed_) return;
  closed_ = true;
  host_.remove(*this);
  send_completions_.release(*this, options_.max_send_requests);
  send_completions_.expect_no_more(places_taken_);
  receive_completions_.release(*this, options_.max_receive_requests);
  receive_completions_.expect_no_more(receive_places_taken_);
  waiting_.clear();
  if (link_ == nullptr) return;
  link_->close();
  host_.signal_waiters().wake_all();  // those that wait for the peer to close
  host_.process().retire(std::exchange(link_, nullptr));
}

// The queue pair may be closed during the wait, so only its link and its host are used then.
bool QueuePair::wait_until_peer_closed(std::uint64_t deadline_ns) {
  FALAFEL_ASSERT(options_.hears_close,
                 "queue pair {} does not hear that its peer closes; set hears_close in its options",
                 number_);
  const std::shared_ptr<Link> link = link_;
  Host& host = host_;
  const auto is_closed = [&] {
    return link == nullptr || link->own_gate().state.load() == GateState::closed;
  };
  while (!is_closed() && !link->peer_has_closed()) {
    host.scheduler().wait(&host.signal_waiters(), deadline_ns);
    if (host.scheduler().gives_up(deadline_ns)) break;
  }
  return !is_closed() && link->peer_has_closed();
}

void QueuePair::free_places(Opcode opcode, std::uint32_t places) {
  std::uint32_t& taken = fabric::is_receive(opcode) ? receive_places_taken_ : places_taken_;
  FALAFEL_ASSERT(places <= taken, "queue pair {}: {} places are freed of {} taken", number_, places,
                 taken);
  taken -= places;
}

// -------------------------------------------------------------------------------------------------
// Completing

void QueuePair::complete(const fabric::WorkRequest& request, CompletionStatus status) {
  ++unsignalled_;
  FALAFEL_ASSERT(unsignalled_ <= places_taken_, "queue pair {} completes {} requests of {}",
                 number_, unsignalled_, places_taken_);
  if (!request.signalled && status == CompletionStatus::success) return;
  send_completions_.push({.id = request.id,
                          .status = status,
                          .opcode = request.opcode,
                          .length_bytes = request.length_bytes,
                          .queue_pair_number = number_,
                          .source = {},
                          .immediate = {}},
                         *this, unsignalled_);
  unsignalled_ = 0;
}

void QueuePair::fail(const fabric::WorkRequest& request, CompletionStatus status) {
  GateState expected = GateState::ready;
  link_->own_gate().state.compare_exchange_strong(expected, GateState::error);
  complete(request, status);
}

void QueuePair::fail_for(const fabric::WorkRequest& request, Outcome outcome) {
  GateState expected = GateState::ready;
  switch (outcome) {
    case Outcome::access_error:
    case Outcome::message_too_long:
      link_->peer_gate().state.compare_exchange_strong(expected, GateState::error);
      ring(link_->peer_wake_word());
      return fail(request, outcome == Outcome::access_error
                               ? CompletionStatus::remote_access_error
                               : CompletionStatus::remote_invalid_request_error);
    case Outcome::no_receive_request:
      return fail(request, CompletionStatus::receiver_not_ready_exceeded);
    case Outcome::no_answer:
    case Outcome::done: break;
  }
  fail(request, CompletionStatus::retry_exceeded);
}

// -------------------------------------------------------------------------------------------------
// Waiting requests

std::uint64_t QueuePair::patience_ns(Opcode opcode) const {
  const bool is_answered = link_->peer_gate().state.load() == GateState::ready && !link_->is_lost();
  if (!is_answered) {
    return link_->is_lost()
               ? 0
               : (std::uint64_t{options_.retry_count} + 1) * options_.acknowledge_timeout_ns;
  }
  const std::uint64_t retries = options_.receiver_not_ready_retry_count;
  if (!fabric::needs_receive_request(opcode) || retries == endless_retries) {
    return fabric::never_ns;
  }
  return (retries + 1) * receiver_not_ready_interval_ns;
}

bool QueuePair::is_over(const Waiting& waiting) const {
  const std::uint64_t patience = patience_ns(waiting.request.opcode);
  return patience != fabric::never_ns && fabric::monotonic_ns() - waiting.since_ns >= patience;
}

void QueuePair::retry_waiting() {
  while (!waiting_.empty() && !is_in_error()) {
    Waiting& first = waiting_.front();
    const Outcome outcome = retry(first);
    if (outcome == Outcome::done) {
      complete(first.request, CompletionStatus::success);
    } else {
      const bool may_try_again =
          outcome == Outcome::no_answer || outcome == Outcome::no_receive_request;
      if (first.since_ns == 0) first.since_ns = fabric::monotonic_ns();
      if (may_try_again && !is_over(first)) return;
      fail_for(first.request, outcome);
    }
    waiting_.pop_front();
  }
}

void QueuePair::flush() {
  FALAFEL_ASSERT(is_in_error() && drained_, "queue pair {} is flushed before it is drained",
                 number_);
  for (; !waiting_.empty(); waiting_.pop_front()) {
    complete(waiting_.front().request, CompletionStatus::flushed);
  }
  for (; collected_receives_ != posted_receives_; ++collected_receives_) {
    receive_completions_.push(receive_completion(collected_receives_, CompletionStatus::flushed),
                              *this, 1);
  }
}

void QueuePair::progress() {
  if (link_ == nullptr) return;
  collect_received();
  retry_waiting();
  if (link_->is_lost() && waiting_.empty()) {
    GateState expected = GateState::ready;
    link_->own_gate().state.compare_exchange_strong(expected, GateState::error);
  }
  if (!is_in_error()) return;
  if (undrained_since_ns_ == 0) undrained_since_ns_ = fabric::monotonic_ns();
  if (!link_->is_drained()) return;
  collect_received();  // messages that arrived before the peer left
  drained_ = true;
  flush();
}

bool QueuePair::has_news() const {
  if (link_ == nullptr) return false;
  const bool has_something_to_flush = !waiting_.empty() || collected_receives_ != posted_receives_;
  if (drained_) return has_something_to_flush;
  if (filled_by_peer(link_->own()) != collected_receives_) return true;
  if (is_in_error()) return has_something_to_flush && link_->is_drained();
  if (link_->is_lost()) return true;
  if (waiting_.empty()) return false;
  const Endpoint& peer = link_->peer();
  return waiting_.front().since_ns == 0 || is_over(waiting_.front()) ||
         (link_->peer_gate().state.load() == GateState::ready &&
          peer.posted.load() != peer.filled.load());
}

std::uint64_t QueuePair::next_deadline_ns() const {
  if (link_ == nullptr) return fabric::never_ns;
  const bool awaits_flush = !waiting_.empty() || collected_receives_ != posted_receives_;
  if (is_in_error()) return awaits_flush ? next_drain_check_ns() : fabric::never_ns;
  const std::uint64_t gate_check_ns = link_->is_served_by_memory_alone()
                                          ? fabric::monotonic_ns() + gate_check_interval_ns
                                          : fabric::never_ns;
  if (waiting_.empty()) return gate_check_ns;
  const std::uint64_t patience = patience_ns(waiting_.front().request.opcode);
  if (patience == fabric::never_ns) return gate_check_ns;
  return std::min(gate_check_ns, waiting_.front().since_ns + patience);
}

std::uint64_t QueuePair::next_drain_check_ns() const {
  const std::uint64_t now_ns = fabric::monotonic_ns();
  const std::uint64_t waited_ns = undrained_since_ns_ == 0 ? 0 : now_ns - undrained_since_ns_;
  return now_ns + std::clamp(waited_ns / drain_intervals_per_wait, shortest_drain_interval_ns,
                             longest_drain_interval_ns);
}

// -------------------------------------------------------------------------------------------------
// Receiving

fabric::WorkCompletion QueuePair::receive_completion(std::uint32_t index,
                                                     CompletionStatus status) const {
  return {.id = receive_ids_[index & (receive_ids_.size() - 1)],
          .status = status,
          .opcode = Opcode::receive,
          .length_bytes = 0,
          .queue_pair_number = number_,
          .source = {},
          .immediate = {}};
}

void QueuePair::collect_received() {
  if (drained_) return;
  Endpoint& own = link_->own();
  const std::uint32_t filled = filled_by_peer(own);
  for (; collected_receives_ != filled; ++collected_receives_) {
    const ReceiveSlot slot = own.slot(collected_receives_);
    const CompletionStatus status = slot.status == ReceiveStatus::received
                                        ? CompletionStatus::success
                                        : CompletionStatus::local_length_error;
    fabric::WorkCompletion completion = receive_completion(collected_receives_, status);
    completion.length_bytes = slot.length_bytes;
    const bool is_write = slot.arrival == Arrival::write_with_immediate;
    if (is_write) completion.opcode = Opcode::receive_of_write;
    if (is_write || slot.arrival == Arrival::message_with_immediate) {
      completion.immediate = slot.immediate;
    }
    receive_completions_.push(completion, *this, 1);
  }
}

}  // namespace falafel::shm
