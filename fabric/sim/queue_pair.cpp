#include "fabric/sim/queue_pair.h"

#include <bit>

#include "fabric/sim/device.h"
#include "fabric/sim/host.h"
#include "fabric/sim/local_buffer.h"
#include "fabric/sim/memory.h"
#include "fabric/sim/store_buffer.h"

namespace falafel::sim {

using fabric::CompletionStatus;
using fabric::Opcode;
using fabric::Result;
using State = Connection::State;

namespace {

// About one answer in this number arrives in a later step than the request is answered. The later
// step may be the next one, so arriving at once adds nothing.
constexpr std::uint64_t late_answer_rate = 8;

// Examines local buffers for the rules of posting.
struct BufferExamination {
  fabric::LocalBuffer operator()(std::size_t /*index*/, const fabric::MemoryAddress& local,
                                 std::uint64_t length_bytes, bool is_written) const {
    connection.world().touch(Touchable::region, local.key, Access::reads);
    const Region* region =
        connection.world().regions.find(local.key, connection.protection_domain());
    return fabric::examine_local_buffer(region, local, length_bytes, is_written);
  }
  const Connection& connection;
};

Connection::Owner owner_of(Host& host, Device& device, std::uint32_t number,
                           const fabric::QueuePairOptions& options) {
  return {.host = host,
          .device = device,
          .address = {host.index(), number},
          .protection_domain = static_cast<ProtectionDomain*>(options.protection_domain)->number(),
          .limits = device.attributes()};
}

SharedReceiveQueueState* shared_receives_of(const fabric::QueuePairOptions& options) {
  if (options.shared_receive_queue == nullptr) return nullptr;
  return &static_cast<SharedReceiveQueue*>(options.shared_receive_queue)->state();
}

}  // namespace

QueuePairActor::QueuePairActor(World& world, Host& host, Device& device, std::uint32_t number,
                               const fabric::QueuePairOptions& options)
    : world_(world),
      connection_(world, owner_of(host, device, number, options), options,
                  [this] { break_connection(); }),
      send_completions_(static_cast<CompletionQueue*>(options.send_completions)->state()),
      receive_completions_(static_cast<CompletionQueue*>(options.receive_completions)->state()),
      sends_(options.max_send_requests),
      shared_receives_(shared_receives_of(options)),
      own_receives_(number),
      receives_(shared_receives_ == nullptr ? own_receives_ : shared_receives_->receives()),
      responder_(connection_, receives_, *this),
      ordering_(connection_, sends_),
      failure_(connection_, sends_, ordering_),
      transfers_(connection_, sends_, failure_),
      atomics_(connection_, failure_, *this),
      messages_(connection_, failure_),
      is_plain_(connection_.is_reliable() && world.costs == nullptr),
      stall_timer_([this] { end_stall(); }) {
  send_completions_.reserve(options.max_send_requests);
  receive_completions_.reserve(shared_receives_ == nullptr
                                   ? options.max_receive_requests
                                   : shared_receives_->attach(*this, receive_completions_));
  world_.ready.introduce(*this);
  if (world_.costs != nullptr) {
    journeys_ = world_.make<timing::Journeys>(*world_.costs, *device.card(), connection_, sends_);
  }
  if (options.hears_close) closing_notice_ = world_.make<ClosingNotice>(world_, number);
  if (connection_.is_stream()) end_of_stream_ = world_.make<EndOfStream>(world_, *this);
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

// Posting

Result<void> QueuePairActor::post_send(std::span<const fabric::WorkRequest> chain) {
  if (world_.running != nullptr) world_.running->count_call({Call::Kind::posting, number()});
  if (Result<void> checked = fabric::check_send_chain(
          chain, occupancy(sends_.taken_places()), connection_.options(),
          connection_.device().attributes(), BufferExamination{connection_});
      !checked) {
    return checked;
  }
  sends_.make_room(chain.size());
  if (journeys_ != nullptr) {
    journeys_->make_room(chain.size());
    world_.spend(cost_of_posting_ps(chain));
  }
  for (const fabric::WorkRequest& work : chain) enqueue(work);
  ring_doorbell();
  return {};
}

Result<void> QueuePairActor::post_faulty(const fabric::WorkRequest& work, CompletionStatus status) {
  if (Result<void> fits =
          fabric::check_send_places(occupancy(sends_.taken_places()), 1, connection_.options());
      !fits) {
    return fits;
  }
  const fabric::WorkRequest without_data{
      .id = work.id, .opcode = work.opcode, .signalled = work.signalled};
  sends_.make_room(1);
  enqueue(without_data);
  Request& request = sends_.at(sends_.posted() - 1);
  request.state = RequestState::done;
  if (!sends_.has_refused() && connection_.state() != State::error) {
    request.status = status;
    sends_.mark_refused(request);
  }
  ring_doorbell();
  return {};
}

std::uint64_t QueuePairActor::cost_of_posting_ps(std::span<const fabric::WorkRequest> chain) const {
  const timing::Profile& profile = world_.costs->profile();
  if (!connection_.is_stream()) return profile.lock_ps + chain.size() * profile.post_ps;
  std::uint64_t cost_ps = 0;
  for (const fabric::WorkRequest& work : chain) {
    cost_ps += world_.costs->stream_send_ps(work.length_bytes);
  }
  return cost_ps;
}

// The doorbell reaches the device after the earlier stores of the processor.
void QueuePairActor::ring_doorbell() {
  StoreBuffer* const buffer = host().store_buffer();
  if (buffer != nullptr && !buffer->empty()) {
    buffer->ring_doorbell(*this, sends_.posted());
    if (connection_.state() == State::error) refresh();
  } else {
    hear_doorbell(sends_.posted());
  }
}

void QueuePairActor::hear_doorbell(std::uint64_t end_place) {
  sends_.announce_before(end_place);
  refresh();
}

void QueuePairActor::enqueue(const fabric::WorkRequest& work) {
  Request& request = sends_.append(work);
  find_local_buffer(world_, request);
  world_.trace.record({.kind = EventKind::request_posted,
                       .detail = static_cast<std::uint8_t>(work.opcode),
                       .subject = number(),
                       .request = work.id,
                       .offset = work.remote.offset,
                       .posted = &work,
                       .place = request.place});
  if (work.inlined) take_inlined_payload(world_, request, host());
  if (connection_.state() == State::error) failure_.drop(request);
  if (world_.step_observer != nullptr) announce(work);
}

void QueuePairActor::announce(const fabric::WorkRequest& work) const {
  const QueuePairActor* peer = connection_.peer();
  if (peer == nullptr || fabric::is_send(work.opcode)) return;
  const std::uint32_t key = world_.regions.key_of_remote(work.remote.key);
  const Region* region = world_.regions.find(key, peer->connection_.protection_domain());
  if (region == nullptr) return;
  const Access access = work.opcode == Opcode::read ? Access::reads : Access::writes;
  world_.step_observer->will_touch(
      actor_id(), {Touchable::memory, region->block_number, access, work.remote.offset,
                   work.remote.offset + work.length_bytes});
}

fabric::QueueOccupancy QueuePairActor::occupancy(std::uint32_t places_taken) const {
  connection_.touch(Access::reads);
  return {.queue_pair_number = number(),
          .is_closed = connection_.state() == State::closed,
          .places_taken = places_taken};
}

Result<void> QueuePairActor::post_receive(std::span<const fabric::ReceiveRequest> chain) {
  if (world_.running != nullptr) world_.running->count_call({Call::Kind::posting, number()});
  if (Result<void> checked = fabric::check_own_receive_queue(connection_.options()); !checked) {
    return checked;
  }
  if (Result<void> checked =
          fabric::check_receive_chain(chain, occupancy(receives_.taken_places()),
                                      connection_.options(), BufferExamination{connection_});
      !checked) {
    return checked;
  }
  host().drain_stores();
  const bool were_none = receives_.empty();
  receives_.touch_next(world_, chain.size());
  receives_.make_room(chain.size());
  for (const fabric::ReceiveRequest& request : chain) receives_.append(request);
  // A flush on this side may need the new receive requests.
  if (connection_.state() == State::error) refresh();
  if (were_none) first_receive_was_posted();
  return {};
}

// A SEND of the peer may have waited for it.
void QueuePairActor::first_receive_was_posted() const {
  QueuePairActor* peer = connection_.peer();
  if (peer == nullptr) return;
  world_.touch(Touchable::actor, peer->actor_id(), Access::reads);
  peer->touch_all_requests(Touchable::writes);
  peer->touch_all_requests(Touchable::completions);
  if (!peer->sends_.empty()) peer->refresh();
}

void QueuePairActor::give_back_places(bool of_receives, std::uint32_t places) {
  if (of_receives) {
    if (shared_receives_ != nullptr) receives_.touch_back(world_);
    receives_.give_back_places(places);
  } else {
    sends_.give_back_places(places);
  }
}

// Steps and completions

void QueuePairActor::update() {
  if (!is_plain_ || !connection_.is_up()) return update_by_rules();
  if (sends_.empty()) return set_next(0, false);
  if (!sends_.has_one_request()) return update_by_rules();
  const Request& request = sends_.at(sends_.released());
  if (fabric::needs_receive_request(request.work.opcode)) return update_by_rules();
  // No other request is in the queue, so there is nothing to order.
  const bool expects_completion = !sends_.all_completed();
  if (expects_completion) connection_.peer_side()->touch(Access::reads);
  set_next(request.is_done() ? 0 : 1, expects_completion && request.is_answered());
}

void QueuePairActor::set_next(std::uint64_t movable, bool can_complete) {
  movable_ = movable;
  can_complete_ = can_complete;
  world_.ready.set_work(*this, movable != 0 || can_complete);
}

void QueuePairActor::update_by_rules() {
  movable_ = sends_.empty() ? 0 : ordering_.find_movable();
  can_complete_ = may_complete_oldest() || may_flush();
  if (end_of_stream_ != nullptr) update_stream();
  if (journeys_ != nullptr) {
    refresh_times();
    return;
  }
  world_.ready.set_work(*this, movable_ != 0 || can_complete_);
  connection_.watch_responder(expects_answer());
}

void QueuePairActor::update_stream() {
  end_of_stream_->refresh();
  if (QueuePairActor* peer = connection_.peer()) peer->end_of_stream_->refresh();
}

// On a message stream, the kernel awaits answers that the program does not.
bool QueuePairActor::expects_answer() const {
  return connection_.is_stream() ? !sends_.empty() : !sends_.all_completed();
}

// In a timed run, the queue pair moves when the earliest of its requests does.
void QueuePairActor::refresh_times() {
  if (!sends_.empty()) journeys_->set_out_until(ordering_.end_of_window());
  const timing::Journeys::Next next = journeys_->next(movable_, can_complete_);
  const bool has_work = next.step != timing::Journeys::Step::none;
  if (has_work) world_.ready.set_due(*this, next.due_ns);
  world_.ready.set_work(*this, has_work);
  connection_.watch_responder(expects_answer());
}

void QueuePairActor::timed_step() {
  using Step = timing::Journeys::Step;
  const timing::Journeys::Next next = journeys_->next(movable_, can_complete_);
  switch (next.step) {
    case Step::none: FALAFEL_ASSERT(false, "{} has no work", describe());
    case Step::arrival: journeys_->arrive(sends_.at(next.place)); break;
    case Step::effect: {
      Request& request = sends_.at(next.place);
      progress(request, {});
      journeys_->take_effect(request);
      refresh_fencing_peer();
      break;
    }
    case Step::completion:
      if (connection_.state() == State::error) {
        flush_one();
      } else {
        complete_oldest();
      }
      break;
  }
  sends_.release_done();
  refresh();
}

void QueuePairActor::step() {
  if (journeys_ != nullptr) {
    timed_step();
    return;
  }
  FALAFEL_ASSERT(movable_ != 0 || can_complete_, "{} has no work", describe());
  std::uint64_t candidates = movable_;
  for (std::uint64_t passed = choose_request(); passed > 0; --passed) candidates &= candidates - 1;
  if (candidates != 0) {
    const auto index = static_cast<std::uint64_t>(std::countr_zero(candidates));
    advance(sends_.at(sends_.released() + index), {});
  } else {
    complete_or_flush();
  }
  sends_.release_done();
  refresh();
}

void QueuePairActor::advance(Request& request, const TransferAnswers& answers) {
  progress(request, answers);
  if (connection_.is_reliable() && may_complete_oldest() &&
      !world_.chance(ChoiceKind::answer, late_answer_rate, only_first)) {
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
  return !connection_.is_stream() || kernel_accepts_oldest();
}

// The kernels of both sides hold a bounded number of bytes that the peer has not received. It
// receives in order, so no request behind the first that is not done is done.
bool QueuePairActor::kernel_accepts_oldest() const {
  const Request& oldest = sends_.oldest();
  return oldest.is_done() ||
         sends_.bytes_in_flight() + oldest.work.length_bytes <= world_.options.stream_buffer_bytes;
}

void QueuePairActor::complete_oldest() {
  Request& request = sends_.oldest();
  if (request.status != CompletionStatus::success) {
    fail(request.status);
    return;
  }
  if (!request.is_done()) {
    world_.count(SimulatorProbe::completion_before_placement);
    take_payload(world_, request);
  }
  push_send_completion(request, CompletionStatus::success);
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
  entry.queue_pair = this;
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
                                 .queue_pair = this,
                                 .retires = 1,
                                 .is_receive = true,
                                 .shows_before = shows_before};
}

void QueuePairActor::show_writes_of_peer(std::uint64_t before_place) {
  const QueuePairActor* peer = connection_.peer();
  if (peer != nullptr) peer->connection_.show_writes_before(before_place);
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
