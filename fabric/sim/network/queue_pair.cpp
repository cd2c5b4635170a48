#include "fabric/sim/network/queue_pair.h"

#include "fabric/sim/memory/protection_domain.h"
#include "fabric/sim/network/device_state.h"
#include "fabric/sim/network/local_buffer.h"
#include "fabric/sim/run/host_state.h"

namespace falafel::sim {

using fabric::CompletionStatus;
using State = Connection::State;

namespace {

Connection::Owner owner_of(DeviceState& device, std::uint32_t number,
                           const fabric::QueuePairOptions& options) {
  return {.host = device.host(),
          .device = device,
          .address = {device.host().index(), number},
          .protection_domain = static_cast<ProtectionDomain*>(options.protection_domain)->number(),
          .limits = device.attributes(),
          .held_words = device.held_words()};
}

SharedReceiveQueueState* shared_receives_of(const fabric::QueuePairOptions& options) {
  if (options.shared_receive_queue == nullptr) return nullptr;
  return &static_cast<SharedReceiveQueue*>(options.shared_receive_queue)->state();
}

}  // namespace

QueuePairActor::QueuePairActor(World& world, DeviceState& device, std::uint32_t number,
                               const fabric::QueuePairOptions& options)
    : world_(world),
      connection_(world, owner_of(device, number, options), options,
                  [this] { break_connection(); }),
      send_completions_(static_cast<CompletionQueue*>(options.send_completions)->state()),
      receive_completions_(static_cast<CompletionQueue*>(options.receive_completions)->state()),
      sends_(options.max_send_requests),
      shared_receives_(shared_receives_of(options)),
      own_receives_(number),
      receives_(shared_receives_ == nullptr ? own_receives_ : shared_receives_->receives()),
      poll_effects_(connection_, sends_, receives_, shared_receives_ != nullptr),
      responder_(connection_, receives_, *this),
      ordering_(connection_, sends_),
      failure_(connection_, sends_, ordering_),
      transfers_(connection_, sends_, failure_),
      atomics_(connection_, failure_, *this),
      messages_(connection_, failure_),
      windows_(connection_, sends_),
      stall_timer_([this] { end_stall(); }) {
  send_completions_.reserve(options.max_send_requests);
  receive_completions_.reserve(shared_receives_ == nullptr
                                   ? options.max_receive_requests
                                   : shared_receives_->attach(*this, receive_completions_));
  world_.ready.introduce(*this);
  world_.responders.push_back(&responder_);
  if (world_.costs != nullptr) {
    request_times_ =
        world_.make<timing::RequestTimes>(*world_.costs, *device.card(), connection_, sends_);
    connection_.set_request_times(*request_times_);
  }
  if (options.hears_close) closing_notice_ = world_.make<ClosingNotice>(world_, number);
  if (connection_.is_stream())
    end_of_stream_ = world_.make<EndOfStream>(world_, connection_, *this);
}

fabric::QueuePairState QueuePair::state() const {
  actor_.connection().touch(Access::reads);
  switch (actor_.connection().state()) {
    case State::connecting:
    case State::ready: return fabric::QueuePairState::ready;
    case State::error: return fabric::QueuePairState::error;
    case State::closed: break;
  }
  return fabric::QueuePairState::closed;
}

bool QueuePair::places_in_address_order() const {
  return actor_.connection().device().attributes().places_in_address_order;
}

void QueuePairActor::join(QueuePairActor& left, QueuePairActor& right) {
  left.connection_.set_peer(right, right.connection_, right.responder_);
  right.connection_.set_peer(left, left.connection_, left.responder_);
  // The client may have given up meanwhile.
  if (right.connection_.is_dead()) right.end_stream(EndOfStream::Cause::closed);
}

void QueuePairActor::become_ready() {
  if (connection_.state() != State::connecting) return;
  connection_.change_state(State::ready);
  if (connection_.peer() != nullptr) connection_.peer()->refresh();
  if (end_of_stream_ != nullptr) end_of_stream_->refresh();
}

// Steps and completions

void QueuePairActor::update() {
  find_next();
  world_.ready.set_work(*this, movable_ != 0 || can_complete_);
  connection_.watch_responder(expects_answer());
}

void QueuePairActor::find_next() {
  movable_ = sends_.empty() ? 0 : ordering_.find_movable();
  can_complete_ = may_complete_oldest() || may_flush();
  if (end_of_stream_ != nullptr) update_stream();
}

void QueuePairActor::update_stream() {
  end_of_stream_->refresh();
  if (QueuePairActor* peer = connection_.peer()) peer->end_of_stream_->refresh();
}

// On a message stream, the kernel awaits answers that the program does not. Nobody answers requests
// of windows.
bool QueuePairActor::expects_answer() const {
  if (connection_.is_stream()) return !sends_.empty();
  return !sends_.all_completed() && !fabric::is_of_window(sends_.oldest().work.opcode);
}

void QueuePairActor::step() {
  if (const std::uint64_t chosen = choose_movable(); chosen != 0) {
    advance(sends_.at(first_of(chosen)), {});
  } else {
    complete_or_flush();
  }
  sends_.release_done();
  refresh();
}

void QueuePairActor::advance(Request& request, const TransferAnswers& answers) {
  progress(request, answers);
  if (connection_.is_reliable() && may_complete_oldest() && answer_arrives_at_once()) {
    complete_oldest();
  }
  refresh_fencing_peer();
}

void QueuePairActor::complete_or_flush() {
  if (connection_.state() == State::error) {
    flush_one();
  } else {
    complete_oldest();
  }
}

void QueuePairActor::leave_gap(const std::byte* word) {
  for (std::uint64_t place = sends_.released(); place < sends_.posted(); ++place) {
    Request& request = sends_.at(place);
    if (request.state == RequestState::in_gap && request.target == word) atomics_.finish(request);
  }
  sends_.release_done();
  refresh();
  refresh_fencing_peer();
}

// The flushes of a peer in error wait for landing requests.
void QueuePairActor::refresh_flushes_of_peer() {
  QueuePairActor* const peer = connection_.peer();
  if (world_.tells_lanes && connection_.is_reliable()) {
    const Unobserved unobserved(world_);  // a flush looks at what lands itself
    peer->update();
    peer->notify_of_end();
  } else {
    peer->refresh();
  }
}

bool QueuePairActor::may_complete_unanswered() const {
  if (sends_.oldest_place() >= sends_.announced()) return false;
  if (fabric::is_of_window(sends_.oldest().work.opcode)) return sends_.oldest().is_done();
  return !connection_.is_stream() || kernel_accepts_oldest();
}

// The kernels of both sides hold a bounded number of bytes that the peer has not received. It
// receives in order, so no request behind the first that is not done is done.
bool QueuePairActor::kernel_accepts_oldest() const {
  const Request& oldest = sends_.oldest();
  return oldest.is_done() ||
         sends_.bytes_in_flight() + oldest.work.length_bytes <= world_.options.stream_buffer_bytes;
}

void QueuePairActor::complete_early(Request& request) {
  world_.count(SimulatorProbe::completion_before_placement);
  take_payload(world_, request);
}

void QueuePairActor::push_send_completion(const Request& request, CompletionStatus status) {
  world_.trace.record({.kind = EventKind::request_completed,
                       .detail = static_cast<std::uint8_t>(status),
                       .subject = number(),
                       .request = request.work.id,
                       .place = request.place});
  const bool is_signalled = request.work.signalled || status != CompletionStatus::success;
  const std::uint32_t places = sends_.complete_oldest(is_signalled);
  if (!is_signalled) return;
  CompletionQueueState::Entry& entry = send_completions_.push();
  entry.completion.id = request.work.id;
  entry.completion.status = status;
  entry.completion.opcode = request.work.opcode;
  entry.completion.length_bytes = request.work.length_bytes;
  entry.completion.queue_pair_number = number();
  entry.completion.source = {};
  entry.completion.immediate.reset();
  entry.effects = &poll_effects_;
  entry.retires = places;
  entry.is_receive = false;
  entry.shows_before = shown_by(status);
}

void QueuePairActor::complete_receive(const fabric::WorkCompletion& completion,
                                      std::uint64_t shows_before, bool is_urgent) {
  push_receive_completion(completion, shows_before);
  if (is_urgent) receive_completions_.newest_is_urgent();
}

void QueuePairActor::fail_receive(const fabric::WorkCompletion& completion) {
  push_receive_completion(completion, shown_by(completion.status));
  receive_completions_.newest_has_failed();
}

void QueuePairActor::push_receive_completion(const fabric::WorkCompletion& completion,
                                             std::uint64_t shows_before) {
  receive_completions_.push() = {.completion = completion,
                                 .effects = &poll_effects_,
                                 .retires = 1,
                                 .is_receive = true,
                                 .shows_before = shows_before};
}

// Faults

bool QueuePairActor::has_work_for_fault(FaultKind kind) const {
  if (!connection_.is_ready()) return false;
  if (kind == FaultKind::queue_pair_error) {
    return connection_.reports_failures() && connection_.peer() != nullptr;
  }
  if (stalled_) return false;
  // Messages of a stream complete before they arrive.
  if (connection_.is_stream()) return kind == FaultKind::message_delay && !sends_.empty();
  for (std::uint64_t place = sends_.oldest_place(); place < sends_.posted(); ++place) {
    if (sends_.at(place).is_send() == (kind == FaultKind::message_delay)) return true;
  }
  return false;
}

void QueuePairActor::stall(std::uint64_t duration_ns) {
  if (!stalled_) {
    world_.ready.hold(*this);
    report_stall(true);
  }
  stalled_ = true;
  world_.timers.set(stall_timer_, world_.trace.time_ns() + duration_ns);
}

void QueuePairActor::end_stall() {
  if (!stalled_) return;
  stalled_ = false;
  world_.timers.cancel(stall_timer_);
  world_.ready.release(*this);
  report_stall(false);
}

void QueuePairActor::report_stall(bool begins) const {
  world_.trace.report_pause(
      {.kind = SubjectKind::queue_pair, .number = number(), .host = host().name()}, begins);
}

std::string QueuePairActor::describe() const {
  const QueuePairActor* peer = connection_.peer();
  std::string text = fmt::format("queue pair {} ({}) of {}{}: {}, peer {}, {} receives", number(),
                                 to_string(connection_.transport()), host().name(),
                                 stalled_ ? ", stalled" : "", to_string(connection_.state()),
                                 peer == nullptr ? 0 : peer->number(), receives_.size());
  for (std::uint64_t place = sends_.released(); place < sends_.posted(); ++place) {
    const Request& request = sends_.at(place);
    text +=
        fmt::format("\n    request {}: {} of {} bytes, {}{}", request.work.id,
                    to_string(request.work.opcode), request.work.length_bytes,
                    to_string(request.state), sends_.is_completed(request) ? ", completed" : "");
  }
  return text;
}

}  // namespace falafel::sim
