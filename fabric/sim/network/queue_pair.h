// A simulated queue pair is an actor. Each of its steps advances one request and possibly completes
// the oldest, or only makes one completion. Its parts do the work:
//
//   connection.h     the state of this side and its peer
//   send_queue.h     the requests; ordering.h: which of them may move
//   transfers.h, atomics.h, messages.h   the steps of requests, by kind
//   responder.h      this side as the responder; receive_queue.h: buffers for messages
//   failure.h        refusals, lost requests, orphans
//   request_times.h   in a timed run: when all that happens
//
// A queue pair is one of three kinds: plain_queue_pair.h, which is RC in a run without times;
// timed_queue_pair.h; and those of UC, UD and message streams, which are a QueuePairActor
// and no more.
//
//   queue_pair_posting.cpp   how requests are posted; queue_pair_end.cpp: failing and closing
//   queue_pair_lanes.cpp   for an explorer: which steps there are, and what they touch
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fabric/fabric.h"
#include "fabric/posting_rules.h"
#include "fabric/sim/network/atomics.h"
#include "fabric/sim/network/closing_notice.h"
#include "fabric/sim/network/completion_queue.h"
#include "fabric/sim/network/connection.h"
#include "fabric/sim/network/end_of_stream.h"
#include "fabric/sim/network/failure.h"
#include "fabric/sim/network/messages.h"
#include "fabric/sim/network/ordering.h"
#include "fabric/sim/network/poll_effects.h"
#include "fabric/sim/network/receive_queue.h"
#include "fabric/sim/network/request_times.h"
#include "fabric/sim/network/responder.h"
#include "fabric/sim/network/send_queue.h"
#include "fabric/sim/network/shared_receive_queue.h"
#include "fabric/sim/network/transfers.h"
#include "fabric/sim/network/window_requests.h"
#include "fabric/sim/run/scheduler.h"
#include "fabric/sim/run/store_buffer.h"
#include "fabric/sim/run/world.h"

namespace falafel::sim {

// The world owns it, because its requests may still land after the program has destroyed its
// QueuePair.
class QueuePairActor : public Actor,
                       public ReceivingQueuePair,
                       public SharingQueuePair,
                       public StreamingQueuePair,
                       public DoorbellOwner,
                       public WordHolder {
 public:
  QueuePairActor(World& world, DeviceState& device, std::uint32_t number,
                 const fabric::QueuePairOptions& options);

  const Connection& connection() const { return connection_; }
  Responder& responder() { return responder_; }
  std::uint32_t number() const { return connection_.number(); }
  HostState& host() const { return connection_.host(); }
  bool has_work_for_fault(FaultKind kind) const;

  fabric::Result<void> post_send(std::span<const fabric::WorkRequest> chain);
  // Posts a request that its own device will refuse with this status once its turn has come.
  fabric::Result<void> post_faulty(const fabric::WorkRequest& work,
                                   fabric::CompletionStatus status);
  // Posts a request without data that the own device carries out (memory_windows.h).
  fabric::Result<void> post_to_own_device(const fabric::WorkRequest& work);
  fabric::Result<void> post_faulty_receive(const fabric::ReceiveRequest& receive);
  std::uint32_t taken_places() const { return sends_.taken_places(); }
  const Responder& responder() const { return responder_; }
  // The queue pair is in error, and all that it has admitted of its peer is in memory.
  bool is_fenced() const {
    return connection_.state() == Connection::State::error && !peer_is_landing();
  }
  // Notified when this becomes an error, and while data of the peer lands afterwards.
  void set_event_of_end(fabric::Event& event) { event_of_end_ = &event; }
  // The request that was posted last. The same for mark_invalidating().
  void mark_solicited() { sends_.at(sends_.posted() - 1).is_solicited = true; }
  void mark_invalidating(std::uint32_t remote_key) {
    sends_.at(sends_.posted() - 1).invalidated_key = remote_key;
  }
  fabric::Result<void> post_receive(std::span<const fabric::ReceiveRequest> chain);
  void move_to_error() override;
  void close();
  bool wait_until_peer_closed(std::uint64_t deadline_ns);

  // Connects two queue pairs. Each admits requests after its become_ready().
  static void join(QueuePairActor& left, QueuePairActor& right);
  void become_ready();
  void give_up_waiting_for_peer() {
    connection_.give_up_waiting_for_peer();
    refresh();
  }
  void set_limits_as_requester(const LimitsAsRequester& limits) {
    connection_.set_limits_as_requester(limits);
  }
  void set_rights_of_peer(const fabric::Access& rights) { connection_.set_rights_of_peer(rights); }
  // All that this side has admitted of its peer is in memory, and the processor sees it.
  void receive_what_lands();
  // The same, if this queue pair was closed: its peer changes nothing any more.
  void end_landing_after_close();

  // The network between the peers breaks, so the oldest request of this side fails.
  void break_connection();
  // This queue pair makes no step for this time.
  void stall(std::uint64_t duration_ns);

  // Determines whether this queue pair has work. Call after a change that its requests depend on.
  void refresh() {
    touch_as_a_whole();
    update();
    notify_of_end();
  }

  void step() override;
  void step_lane(LaneNumber lane) override;
  void list_lanes(std::vector<Lane>& lanes) const override;
  std::string describe() const override;

 protected:
  // Finds out what can move next.
  virtual void update();

  void hear_doorbell(std::uint64_t end_place) final;
  void first_receive_was_posted() const final;
  void leave_gap(const std::byte* word) override;
  bool has_undelivered_sends() const override;
  bool peer_has_undelivered_sends() const override;
  void hear_end_of_stream() override;

  fabric::QueueOccupancy occupancy(std::uint32_t places_taken) const;
  void enqueue(const fabric::WorkRequest& work);
  void enqueue_receives(std::span<const fabric::ReceiveRequest> chain);
  void announce(const fabric::WorkRequest& work) const;
  std::uint64_t cost_of_posting_ps(std::span<const fabric::WorkRequest> chain) const;
  void ring_doorbell();

  void find_next();
  void update_stream();
  // The request that makes the next step, and some behind it, in the form of `movable_`. 0: the
  // queue pair makes its next completion.
  std::uint64_t choose_movable() {
    std::uint64_t movable = movable_;
    if (movable == 1 && !can_complete_) return movable;
    FALAFEL_ASSERT(movable != 0 || can_complete_, "{} has no work", describe());
    for (std::uint64_t passed = choose_request(); passed > 0; --passed) movable &= movable - 1;
    return movable;
  }
  std::uint64_t first_of(std::uint64_t movable) const {
    return sends_.released() + static_cast<std::uint64_t>(std::countr_zero(movable));
  }
  // Answers below the number of movable requests mean one of them; the last one is a completion.
  std::uint64_t choose_request(Answers sufficient = all_answers) {
    const auto movable = static_cast<std::uint64_t>(std::popcount(movable_));
    return world_.choose(ChoiceKind::request, movable + (can_complete_ ? 1 : 0), sufficient);
  }
  void advance(Request& request, const TransferAnswers& answers);
  void complete_or_flush();
  void progress(Request& request, const TransferAnswers& answers) {
    if (request.is_read() || request.is_write()) {
      transfers_.progress(request, answers);
    } else if (request.is_atomic()) {
      atomics_.progress(request);
    } else if (fabric::is_of_window(request.work.opcode)) {
      windows_.progress(request);
    } else {
      messages_.progress(request);
    }
  }
  // On UC and UD, a request can complete at any time, because it has no answer.
  bool may_complete_oldest() const {
    if (!connection_.is_ready() || sends_.all_completed()) return false;
    return connection_.is_reliable() ? is_oldest_answered() : may_complete_unanswered();
  }
  // The responder may answer before the data is in memory. It answers a READ that has passed
  // earlier WRITEs when these are in memory.
  bool is_oldest_answered() const {
    const Request& oldest = sends_.oldest();
    if (oldest.has_passed_write && sends_.released() != sends_.oldest_place()) return false;
    return oldest.is_done() || (oldest.is_answered() && !world_.options.placed_before_completed);
  }
  // About one answer in this number arrives in a later step than the request is answered. The later
  // step may be the next one, so arriving at once adds nothing.
  bool answer_arrives_at_once() {
    constexpr std::uint64_t late_answer_rate = 8;
    return !world_.chance(ChoiceKind::answer, late_answer_rate, only_first);
  }
  bool may_complete_unanswered() const;
  bool kernel_accepts_oldest() const;
  bool expects_answer() const;
  void complete_oldest() {
    Request& request = sends_.oldest();
    if (request.status != fabric::CompletionStatus::success) {
      fail(request.status);
      return;
    }
    if (!request.is_done()) complete_early(request);
    if (request.has_passed_write) connection_.show_writes_before(request.place);
    push_send_completion(request, fabric::CompletionStatus::success);
  }
  void complete_early(Request& request);
  void push_send_completion(const Request& request, fabric::CompletionStatus status);
  void complete_receive(const fabric::WorkCompletion& completion, std::uint64_t shows_before,
                        bool is_urgent) override;
  void fail_receive(const fabric::WorkCompletion& completion) override;
  void push_receive_completion(const fabric::WorkCompletion& completion,
                               std::uint64_t shows_before);

  bool may_flush() const {
    return connection_.state() == Connection::State::error && has_flush_to_make();
  }
  bool has_flush_to_make() const;
  bool has_receives_to_flush() const;
  bool has_failed_oldest() const;
  void flush_one();

  void fail(fabric::CompletionStatus status);
  void enter_error();
  void end_stream(EndOfStream::Cause cause) const;
  std::uint64_t end_of_certain_delivery() const;
  bool is_landing() const;
  bool peer_is_landing() const;
  void land();
  void refresh_fencing_peer() {
    const Connection* peer = connection_.peer_side();
    if (peer == nullptr) return;
    peer->touch(Access::reads);
    if (peer->state() == Connection::State::error) refresh_flushes_of_peer();
  }
  void refresh_flushes_of_peer();
  void notify_of_end() const {
    if (event_of_end_ != nullptr && connection_.is_dead()) event_of_end_->notify_all();
  }

  void end_stall();
  void report_stall(bool begins) const;

  void list_lanes_of(const Request& request, std::vector<Lane>& lanes) const;
  void step_request(LaneNumber lane);
  void touch_request(const Request& request, bool is_first_part);
  void touch_permission(const Request& request);
  void touch_passed_writes(const Request& request);
  void touch_completion();
  void touch_as_a_whole() const { world_.touch(Touchable::actor, actor_id(), Access::writes); }
  void touch_all_requests(Touchable object) const;

  World& world_;
  Connection connection_;
  CompletionQueueState& send_completions_;
  CompletionQueueState& receive_completions_;
  SendQueue sends_;
  SharedReceiveQueueState* shared_receives_;  // null: none
  ReceiveQueue own_receives_;
  ReceiveQueue& receives_;  // the shared one, if there is one
  PollEffects poll_effects_;
  Responder responder_;
  Ordering ordering_;
  Failure failure_;
  Transfers transfers_;
  Atomics atomics_;
  Messages messages_;
  WindowRequests windows_;
  Owned<timing::RequestTimes>
      request_times_;  // null unless the run is timed; see timed_queue_pair.cpp

  std::uint64_t movable_ = 0;  // as Ordering::find_movable
  bool can_complete_ = false;
  CallbackTimer stall_timer_;
  bool stalled_ = false;
  Owned<ClosingNotice> closing_notice_;    // null unless this side hears it
  Owned<EndOfStream> end_of_stream_;       // null unless it is a message stream
  fabric::Event* event_of_end_ = nullptr;  // null: none
};

class QueuePair final : public fabric::QueuePair {
 public:
  explicit QueuePair(QueuePairActor& actor) : actor_(actor) {}
  ~QueuePair() override { actor_.close(); }
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  std::uint32_t number() const override { return actor_.number(); }
  fabric::Transport transport() const override { return actor_.connection().transport(); }
  QueuePairActor& actor() const { return actor_; }
  fabric::QueuePairState state() const override;
  fabric::Result<void> post_send(std::span<const fabric::WorkRequest> chain) override {
    return actor_.post_send(chain);
  }
  fabric::Result<void> post_receive(std::span<const fabric::ReceiveRequest> chain) override {
    return actor_.post_receive(chain);
  }
  void move_to_error() override { actor_.move_to_error(); }
  void close() override { actor_.close(); }
  bool wait_until_peer_closed(std::uint64_t deadline_ns) override {
    return actor_.wait_until_peer_closed(deadline_ns);
  }
  bool places_in_address_order() const override;

 private:
  QueuePairActor& actor_;
};

// `queue_pair` is one of the simulator.
inline QueuePairActor& actor_of(const fabric::QueuePair& queue_pair) {
  return static_cast<const QueuePair&>(queue_pair).actor();
}

}  // namespace falafel::sim
