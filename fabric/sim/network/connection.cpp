#include "fabric/sim/network/connection.h"

#include <algorithm>

namespace falafel::sim {

std::string_view to_string(Connection::State state) {
  switch (state) {
    case Connection::State::connecting: return "connecting";
    case Connection::State::ready: return "ready";
    case Connection::State::error: return "error";
    case Connection::State::closed: return "closed";
  }
  return "unknown state";
}

Connection::Connection(World& world, const Owner& owner, const fabric::QueuePairOptions& options,
                       std::function<void()> timed_out)
    : world_(world), owner_(owner), options_(options), retry_timer_(std::move(timed_out)) {
  options_.max_outstanding_reads_and_atomics = std::min(
      options.max_outstanding_reads_and_atomics, owner.limits.max_outstanding_reads_and_atomics);
}

void Connection::change_state(State state) {
  FALAFEL_ASSERT(state_ < state, "queue pair {} goes from {} to {}", number(), to_string(state_),
                 to_string(state));
  touch(Access::writes);
  state_ = state;
  note_whether_up();
}

void Connection::note_whether_up() {
  if (peer_side_ == nullptr || !is_reliable() || world_.costs != nullptr) return;
  is_plainly_up_ = is_ready() && peer_side_->is_ready();
  peer_side_->is_plainly_up_ = is_plainly_up_;
}

void Connection::set_peer(QueuePairActor& peer, Connection& side, Responder& responder) {
  FALAFEL_ASSERT(peer_ == nullptr && !is_datagram(), "queue pair {} gets a second peer", number());
  touch(Access::writes);
  peer_ = &peer;
  peer_side_ = &side;
  responder_ = &responder;
  note_whether_up();
}

void Connection::set_limits_as_requester(const LimitsAsRequester& limits) {
  options_.max_outstanding_reads_and_atomics = std::min(
      limits.max_outstanding_reads_and_atomics, owner_.limits.max_outstanding_reads_and_atomics);
  options_.acknowledge_timeout_ns = limits.acknowledge_timeout_ns;
  options_.retry_count = limits.retry_count;
  options_.receiver_not_ready_retry_count = limits.receiver_not_ready_retry_count;
}

void Connection::set_rights_of_peer(const fabric::Access& rights) {
  touch(Access::writes);
  rights_of_peer_ = rights;
}

void Connection::set_watching(bool waits) {
  retry_timer_set_ = waits;
  if (!waits) {
    world_.timers.cancel(retry_timer_);
    return;
  }
  world_.timers.set(retry_timer_, world_.trace.time_ns() + detection_ns());
}

// Cards adapt their timeout and repeat requests later than they were told to (rule 20 of
// docs/fabric.md).
std::uint64_t Connection::detection_ns() const {
  const std::uint64_t tries = options_.retry_count + std::uint64_t{1};
  const std::uint64_t least_ns = options_.acknowledge_timeout_ns * tries;
  const std::uint64_t slowest = world_.options.slowest_detection;
  if (slowest == 1) return least_ns;
  constexpr std::uint64_t parts = 8;
  return least_ns +
         least_ns / parts * (slowest - 1) * world_.choose(ChoiceKind::detection, parts + 1);
}

void Connection::show_writes_before(std::uint64_t place) const {
  if (world_.options.late_visibility) {
    world_.touch(Touchable::late_words, number(), Access::writes);
    world_.touch(Touchable::visibility, 0, Access::writes);
  }
  if (!world_.late_words.empty()) world_.late_words.reveal(number(), place);
}

void Connection::trace(EventKind kind, const Request& request, std::uint64_t offset,
                       std::uint64_t word, std::span<const std::byte> data,
                       const fabric::MemoryBlock* block) const {
  world_.trace.record({.kind = kind,
                       .detail = static_cast<std::uint8_t>(request.work.opcode),
                       .subject = number(),
                       .request = request.work.id,
                       .offset = offset,
                       .word = word,
                       .data = data,
                       .posted = &request.work,
                       .block = block,
                       .place = request.place});
}

}  // namespace falafel::sim
