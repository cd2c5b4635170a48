// A simulated queue pair: an actor that moves the requests of its send queue on, from posting through
// their effects in the responder's memory to completion. Five files implement it by concern:
//   posting.cpp      what may be posted
//   ordering.cpp     which requests may move, by the rules of the contract
//   responder.cpp    what a request does at the other side
//   queue_pair.cpp   moving on, completing, standing still
//   failing.cpp      errors, orphans, flushing, closing
//
// A request is `posted`, then has its effects (`in_progress`; `in_gap` between the read and the write of
// an atomic), then is `answered`: the requester may learn of it. A WRITE is answered when its packets
// have arrived, and `placed` when its words are in memory. Requests that were under way when their queue
// pair failed are orphans: they may still take effect, but nobody is told.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/posting_rules.h"
#include "fabric/sim/completion_queue.h"
#include "fabric/sim/placement.h"
#include "fabric/sim/ring.h"
#include "fabric/sim/scheduler.h"
#include "fabric/sim/world.h"

namespace falafel::sim {

class DeviceCore;
class HostCore;

class QueuePairCore final : public Actor {
 public:
  enum class State : std::uint8_t { connecting, ready, error, closed };

  QueuePairCore(World& world, HostCore& host, DeviceCore& device, std::uint32_t number,
                const fabric::QueuePairOptions& options);

  std::uint32_t number() const { return number_; }
  fabric::Transport transport() const { return options_.transport; }
  State state() const { return state_; }
  HostCore& host() const { return host_; }
  bool is_reliable() const { return options_.transport == fabric::Transport::reliable_connection; }
  bool has_peer() const { return peer_ != nullptr; }
  bool has_work_for_fault(FaultKind kind) const;

  fabric::Result<void> post_send(std::span<const fabric::WorkRequest> chain);
  fabric::Result<void> post_receive(std::span<const fabric::ReceiveRequest> chain);
  [[gnu::cold]] void move_to_error();
  [[gnu::cold]] void close();

  // Connects two queue pairs; `become_ready` lets this side work.
  static void join(QueuePairCore& left, QueuePairCore& right);
  void become_ready();

  // The network between the peers breaks, as this side finds out: its oldest request fails.
  [[gnu::cold]] void break_connection();
  // Nothing of this queue pair moves for so long.
  void stall(std::uint64_t duration_ns);
  // Called when a completion has been polled: its requests have left their queue.
  void retire(fabric::Opcode opcode, std::uint32_t requests);
  static constexpr std::uint64_t all_places = ~std::uint64_t{0};
  // The processor of this side sees what the peer's WRITEs before that place of its send queue changed.
  void show_writes_of_peer(std::uint64_t before_place);
  // Looks again at which requests may move, after something changed that they waited for.
  void refresh();

  [[gnu::flatten]] void step() override;
  std::string describe() const override;

 private:
  enum class Phase : std::uint8_t { posted, in_progress, in_gap, answered };

  struct SendEntry {
    fabric::WorkRequest request;
    std::uint64_t place = 0;  // in the send queue, since the queue pair was made
    Phase phase = Phase::posted;
    bool placed = false;     // has had all its effects
    bool completed = false;  // the requester has been told, or need not be
    bool overtaken = false;  // a datagram that lets later ones pass
    bool counted_wait = false;
    bool waits_for_earlier = false;  // it will be refused, after those before it are answered
    bool refused = false;            // nothing behind it is issued any more
    bool owns_payload = false;
    fabric::CompletionStatus status = fabric::CompletionStatus::success;
    std::uint32_t tries = 0;
    std::uint64_t surviving_bytes = 0;  // of an orphan; what is beyond never arrives
    std::uint64_t old_word = 0;
    std::byte* target = nullptr;  // of an atomic under way
    Placement placement;
    std::vector<std::byte> payload;  // the data, once the local buffer may no longer be read
  };

  // What ordering.cpp finds out on its way through the queue.
  struct OrderingState {
    bool unplaced_write = false;    // an earlier WRITE or SEND has not taken effect
    bool pending_atomic = false;    // an earlier atomic has not taken effect
    bool unanswered = false;        // an earlier request has no answer
    std::uint32_t outstanding = 0;  // earlier READs and atomics that have not finished
  };

  // posting.cpp
  fabric::LocalBuffer examine_local(const fabric::MemoryAddress& local, std::uint64_t length_bytes,
                                    bool is_written) const;
  void enqueue(const fabric::WorkRequest& request);
  [[gnu::cold]] void take_payload(SendEntry& entry);

  // queue_pair.cpp
  void complete_oldest();
  void push_send_completion(SendEntry& entry, fabric::CompletionStatus status);
  void push_receive_completion(const fabric::WorkCompletion& completion,
                               std::uint64_t shows_before = 0);
  void release_finished();
  void tell_fencing_peer();
  [[gnu::cold]] void end_stall();
  [[gnu::cold]] void report_stall(bool begins) const;
  bool is_dead() const { return state_ >= State::error; }  // nobody at this side is told any more

  // failing.cpp
  [[gnu::cold]] void fail(fabric::CompletionStatus status);
  [[gnu::cold]] void enter_error();
  [[gnu::cold]] void leave_orphans();
  [[gnu::cold]] void orphan_in_part(SendEntry& entry);
  [[gnu::cold]] void flush_one();
  [[gnu::cold]] void drop(SendEntry& entry);
  [[gnu::cold]] void cut_short(SendEntry& entry);
  [[gnu::cold]] void land();

  // ordering.cpp
  [[gnu::noinline]] void find_movable();
  bool starts_alone() const;
  bool may_move(SendEntry& entry, const OrderingState& before);
  bool may_start(SendEntry& entry, const OrderingState& before);
  bool must_wait_in_queue(SendEntry& entry, const OrderingState& before);
  static void pass(const SendEntry& entry, OrderingState& state);
  bool may_complete_oldest() const;
  bool may_flush() const;
  bool has_failed_oldest() const;
  std::uint64_t end_of_issued();
  bool responder_admits() const;
  bool responder_is_lost() const;
  bool is_landing() const;
  [[gnu::cold]] void watch_responder();

  // responder.cpp
  void progress(SendEntry& entry);
  void progress_transfer(SendEntry& entry);
  void progress_atomic(SendEntry& entry);
  void finish_atomic(SendEntry& entry);
  [[gnu::cold]] void leave_gap(const std::byte* word);
  void progress_message(SendEntry& entry);
  void deliver(SendEntry& entry, QueuePairCore& receiver);
  Region* admitted_region(const SendEntry& entry) const;
  bool has_earlier_unanswered(const SendEntry& entry) const;
  [[gnu::cold]] void refuse(SendEntry& entry, fabric::CompletionStatus status);
  void next_packet(SendEntry& entry);
  void place_words(SendEntry& entry);
  void settle(SendEntry& entry);
  QueuePairCore* receiver_of(const SendEntry& entry) const;
  void show_writes_before(std::uint64_t place);
  const std::byte* source_of(const SendEntry& entry) const;
  std::byte* local_buffer(const SendEntry& entry) const;
  void trace(EventKind kind, const SendEntry& entry, std::uint64_t offset, std::uint64_t word,
             std::span<const std::byte> data) const;

  SendEntry& entry(std::uint64_t index) { return ring_[index]; }
  const SendEntry& entry(std::uint64_t index) const { return ring_[index]; }

  World& world_;
  HostCore& host_;
  DeviceCore& device_;
  std::uint32_t number_;
  fabric::QueuePairOptions options_;
  std::uint32_t protection_domain_;
  CompletionQueueCore& send_completions_;
  CompletionQueueCore& receive_completions_;
  QueuePairCore* peer_ = nullptr;
  State state_ = State::connecting;

  // The send queue: entries [released_, posted_) of a ring, of which those before oldest_ have completed
  // but may still have words to place.
  Ring<SendEntry> ring_;
  std::uint64_t released_ = 0;
  std::uint64_t oldest_ = 0;
  std::uint64_t posted_ = 0;
  std::uint32_t places_taken_ = 0;  // of max_send_requests
  std::uint32_t unsignalled_ = 0;   // completed without telling since the last completion
  std::uint64_t movable_ = 0;       // bit i: entry released_ + i may move
  bool can_complete_ = false;

  Ring<fabric::ReceiveRequest> receives_;  // [first_receive_, posted_receives_)
  std::uint64_t first_receive_ = 0;
  std::uint64_t posted_receives_ = 0;
  std::uint32_t receive_places_taken_ = 0;

  CallbackTimer retry_timer_;
  CallbackTimer stall_timer_;
  bool retry_timer_set_ = false;
  bool stalled_ = false;
};

class QueuePairHandle final : public fabric::QueuePair {
 public:
  explicit QueuePairHandle(QueuePairCore& core) : core_(core) {}
  ~QueuePairHandle() override { core_.close(); }
  QueuePairHandle(const QueuePairHandle&) = delete;
  QueuePairHandle& operator=(const QueuePairHandle&) = delete;

  std::uint32_t number() const override { return core_.number(); }
  fabric::Transport transport() const override { return core_.transport(); }
  fabric::QueuePairState state() const override;
  fabric::Result<void> post_send(std::span<const fabric::WorkRequest> chain) override {
    return core_.post_send(chain);
  }
  fabric::Result<void> post_receive(std::span<const fabric::ReceiveRequest> chain) override {
    return core_.post_receive(chain);
  }
  void move_to_error() override { core_.move_to_error(); }
  void close() override { core_.close(); }
  QueuePairCore& core() const { return core_; }

 private:
  QueuePairCore& core_;
};

}  // namespace falafel::sim
