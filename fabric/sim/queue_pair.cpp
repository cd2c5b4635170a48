// The requester's side: moving its requests on, completing them in order, standing still.
#include "fabric/sim/queue_pair.h"

#include <algorithm>
#include <array>
#include <bit>

#include "fabric/sim/host.h"

namespace falafel::sim {

using fabric::CompletionStatus;
using fabric::Opcode;

namespace {
// About one in so many answers does not arrive in the step in which the request is answered.
constexpr std::uint64_t late_answer_rate = 8;

// What the completion shows of the peer's WRITEs by its status alone: with a flush everything has landed.
std::uint64_t shown_by(CompletionStatus status) {
  return status == CompletionStatus::flushed ? QueuePairCore::all_places : 0;
}
}  // namespace

QueuePairCore::QueuePairCore(World& world, HostCore& host, DeviceCore& device, std::uint32_t number,
                             const fabric::QueuePairOptions& options)
    : world_(world),
      host_(host),
      device_(device),
      number_(number),
      options_(options),
      protection_domain_(static_cast<ProtectionDomainHandle*>(options.protection_domain)->number()),
      send_completions_(static_cast<CompletionQueueHandle*>(options.send_completions)->core()),
      receive_completions_(
          static_cast<CompletionQueueHandle*>(options.receive_completions)->core()),
      retry_timer_([this] { break_connection(); }),
      stall_timer_([this] { end_stall(); }) {
  options_.max_outstanding_reads_and_atomics =
      std::min(options.max_outstanding_reads_and_atomics,
               device.attributes().max_outstanding_reads_and_atomics);
  send_completions_.reserve(options.max_send_requests);
  receive_completions_.reserve(options.max_receive_requests);
  world_.ready.introduce(*this);
}

fabric::QueuePairState QueuePairHandle::state() const {
  switch (core_.state()) {
    case QueuePairCore::State::connecting:
    case QueuePairCore::State::ready: return fabric::QueuePairState::ready;
    case QueuePairCore::State::error: return fabric::QueuePairState::error;
    case QueuePairCore::State::closed: break;
  }
  return fabric::QueuePairState::closed;
}

void QueuePairCore::join(QueuePairCore& left, QueuePairCore& right) {
  left.peer_ = &right;
  right.peer_ = &left;
}

void QueuePairCore::become_ready() {
  if (state_ != State::connecting) return;
  state_ = State::ready;
  if (peer_ != nullptr) peer_->refresh();
}

void QueuePairCore::step() {
  const auto movable = static_cast<std::uint64_t>(std::popcount(movable_));
  std::uint64_t chosen = world_.choose(ChoiceKind::request, movable + (can_complete_ ? 1 : 0));
  if (chosen == movable) {
    if (state_ == State::error) {
      flush_one();
    } else {
      complete_oldest();
    }
  } else {
    std::uint64_t candidates = movable_;
    while (chosen-- > 0) candidates &= candidates - 1;
    progress(entry(released_ + static_cast<std::uint64_t>(std::countr_zero(candidates))));
    if (may_complete_oldest() && is_reliable() &&
        !world_.chance(ChoiceKind::answer, late_answer_rate)) {
      complete_oldest();
    }
    tell_fencing_peer();
  }
  release_finished();
  refresh();
}

// The flush of a peer that went to error waits for what is landing.
void QueuePairCore::tell_fencing_peer() {
  if (peer_ != nullptr && peer_->state_ == State::error) peer_->refresh();
}

void QueuePairCore::release_finished() {
  while (released_ < oldest_ && entry(released_).placed) ++released_;
}

void QueuePairCore::push_send_completion(SendEntry& request, CompletionStatus status) {
  world_.trace.record({.kind = EventKind::request_completed,
                       .detail = static_cast<std::uint8_t>(status),
                       .subject = number_,
                       .request = request.request.id,
                       .place = request.place});
  request.completed = true;
  ++oldest_;
  ++unsignalled_;
  if (request.request.signalled || status != CompletionStatus::success) {
    send_completions_.push({.completion = {.id = request.request.id,
                                           .status = status,
                                           .opcode = request.request.opcode,
                                           .length_bytes = request.request.length_bytes,
                                           .queue_pair_number = number_,
                                           .source = {}},
                            .queue_pair = this,
                            .retires = unsignalled_,
                            .shows_before = shown_by(status)});
    unsignalled_ = 0;
  }
}

void QueuePairCore::push_receive_completion(const fabric::WorkCompletion& completion,
                                            std::uint64_t shows_before) {
  fabric::WorkCompletion complete = completion;
  complete.opcode = Opcode::receive;
  complete.queue_pair_number = number_;
  receive_completions_.push({.completion = complete,
                             .queue_pair = this,
                             .retires = 1,
                             .shows_before = std::max(shows_before, shown_by(completion.status))});
}

void QueuePairCore::show_writes_of_peer(std::uint64_t before_place) {
  if (peer_ != nullptr) peer_->show_writes_before(before_place);
}

void QueuePairCore::complete_oldest() {
  SendEntry& request = entry(oldest_);
  if (request.status != CompletionStatus::success) {
    fail(request.status);
    return;
  }
  if (!request.placed) {
    world_.count(SimulatorProbe::completion_before_placement);
    take_payload(request);
  }
  push_send_completion(request, CompletionStatus::success);
}

bool QueuePairCore::has_work_for_fault(FaultKind kind) const {
  if (state_ != State::ready) return false;
  if (kind == FaultKind::queue_pair_error) return is_reliable() && peer_ != nullptr;
  if (stalled_) return false;
  for (std::uint64_t index = oldest_; index < posted_; ++index) {
    const bool is_send = entry(index).request.opcode == Opcode::send;
    if (is_send == (kind == FaultKind::message_delay)) return true;
  }
  return false;
}

void QueuePairCore::stall(std::uint64_t duration_ns) {
  if (!stalled_) {
    world_.ready.hold(*this);
    report_stall(true);
  }
  stalled_ = true;
  world_.timers.set(stall_timer_, world_.trace.time_ns() + duration_ns);
}

void QueuePairCore::end_stall() {
  if (!stalled_) return;
  stalled_ = false;
  world_.timers.cancel(stall_timer_);
  world_.ready.release(*this);
  report_stall(false);
}

void QueuePairCore::report_stall(bool begins) const {
  world_.trace.report_pause(
      {.kind = SubjectKind::queue_pair, .number = number_, .host = host_.name()}, begins);
}

std::string QueuePairCore::describe() const {
  constexpr std::array<std::string_view, 4> states = {"connecting", "ready", "error", "closed"};
  constexpr std::array<std::string_view, 4> phases = {"posted", "in progress", "in gap",
                                                      "answered"};
  std::string text =
      fmt::format("queue pair {} ({}) of {}{}: {}, peer {}, {} receives", number_,
                  to_string(options_.transport), host_.name(), stalled_ ? ", stalled" : "",
                  states[static_cast<std::size_t>(state_)], peer_ == nullptr ? 0 : peer_->number_,
                  posted_receives_ - first_receive_);
  for (std::uint64_t index = released_; index < posted_; ++index) {
    const SendEntry& request = entry(index);
    text += fmt::format("\n    request {}: {} of {} bytes, {}{}", request.request.id,
                        to_string(request.request.opcode), request.request.length_bytes,
                        phases[static_cast<std::size_t>(request.phase)],
                        request.completed ? ", completed" : "");
  }
  return text;
}

}  // namespace falafel::sim
