// The actors that can move, and the timers. The order in both structures follows from the history
// of the run, never from addresses, so a run can be repeated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "fabric/assert.h"
#include "fabric/sim/run/actor.h"
#include "fabric/sim/run/due_queue.h"
#include "fabric/sim/strategies/strategy.h"

namespace falafel::sim {

// The actors that have work and are not held. Inserting and removing take constant time: removal
// moves the last actor into the gap. In a timed run, the set is also ordered by the times of the
// actors' next steps.
class ReadySet {
 public:
  ReadySet(std::pmr::memory_resource& memory, std::size_t expected_count);

  void introduce(Actor& actor);
  void set_work(Actor& actor, bool has_work) {
    if (actor.has_work_ == has_work) return;
    actor.has_work_ = has_work;
    if (actor.holds_ != 0) return;
    if (has_work) {
      insert(actor);
    } else {
      remove(actor);
    }
  }
  void hold(Actor& actor) {
    if (actor.holds_++ == 0 && actor.has_work_) remove(actor);
  }
  void release(Actor& actor) {
    FALAFEL_ASSERT(actor.holds_ > 0, "actor {} is released but not held", actor.actor_id_);
    if (--actor.holds_ == 0 && actor.has_work_) insert(actor);
  }

  // For timed runs.
  void order_by_time() { by_time_ = std::make_unique<timing::DueQueue>(); }
  void set_due(Actor& actor, std::uint64_t due_ns) { set_due(actor, due_ns, due_ns); }
  // The actor could have made its step at an earlier time, but waits for something that others may
  // wait for, too: whoever waits longer goes first.
  void set_due(Actor& actor, std::uint64_t due_ns, std::uint64_t waits_since_ns) {
    if (actor.due_ns_ == due_ns && actor.waits_since_ns_ == waits_since_ns) return;
    actor.due_ns_ = due_ns;
    actor.waits_since_ns_ = waits_since_ns;
    if (contains(actor)) by_time_->move(actor);
  }
  void postpone(Actor& actor, std::uint64_t due_ns) {
    set_due(actor, due_ns, actor.waits_since_ns_);
  }
  std::uint64_t earliest_ns() const { return by_time_->earliest_ns(); }
  Actor& earliest() const { return by_time_->earliest(); }

  bool contains(const Actor& actor) const { return actor.position_ != Actor::absent; }
  std::size_t size() const { return size_; }
  std::span<const ActorId> ids() const {
    return {ids_.data(), size_};
  }  // valid until the set changes
  Actor& at(std::size_t index) const { return *actors_[ids_[index]]; }

 private:
  void insert(Actor& actor) {
    actor.position_ = size_;
    ids_[size_++] = actor.actor_id_;
    if (by_time_ != nullptr) by_time_->insert(actor);
  }
  void remove(Actor& actor) {
    FALAFEL_ASSERT(contains(actor), "actor {} is not in the ready set", actor.actor_id_);
    const ActorId last = ids_[--size_];
    ids_[actor.position_] = last;
    actors_[last]->position_ = actor.position_;
    actor.position_ = Actor::absent;
    if (by_time_ != nullptr) by_time_->remove(actor);
  }

  std::pmr::vector<Actor*> actors_;  // all, by ActorId
  std::pmr::vector<ActorId> ids_;    // of those in the set: the first `size_`
  std::uint32_t size_ = 0;
  std::unique_ptr<timing::DueQueue> by_time_;  // null unless the run is timed
};

// An object with a deadline. Its destructor removes it from its queue.
class Timer {
 public:
  virtual void expired() = 0;
  virtual Deadline deadline() const { return {}; }

 protected:
  Timer() = default;
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  friend class TimerQueue;
  static constexpr std::size_t absent = ~std::size_t{0};

  class TimerQueue* queue_ = nullptr;
  std::uint64_t deadline_ns_ = 0;
  std::uint64_t sequence_ = 0;
  std::size_t position_ = absent;
};

// The pending timers by deadline; timers with equal deadlines expire in the order in which they
// were set. A binary heap in which each timer knows its position, so that it can be canceled.
class TimerQueue {
 public:
  TimerQueue(std::pmr::memory_resource& memory, std::size_t expected_count) : heap_(&memory) {
    heap_.reserve(expected_count);
  }
  ~TimerQueue();
  TimerQueue(const TimerQueue&) = delete;
  TimerQueue& operator=(const TimerQueue&) = delete;

  void set(Timer& timer, std::uint64_t deadline_ns);  // replaces an earlier deadline
  void cancel(Timer& timer);
  bool empty() const { return heap_.empty(); }
  std::uint64_t next_ns() const { return next_ns_; }  // never_ns if empty
  // Calls `visit` for the pending timers that were set after the call that returned `since`.
  // Returns the value for the next call.
  template <typename Visit>
  std::uint64_t visit_newer(std::uint64_t since, Visit visit) const {
    if (since == next_sequence_) return since;
    for (const Timer* timer : heap_) {
      if (timer->sequence_ >= since) visit(*timer);
    }
    return next_sequence_;
  }
  void expire_until(std::uint64_t time_ns) {
    if (next_ns_ <= time_ns) expire_due(time_ns);
  }

 private:
  void expire_due(std::uint64_t time_ns);
  static bool before(const Timer& left, const Timer& right);
  void place(Timer* timer, std::size_t position);
  void rise(Timer* timer);
  void sink(Timer* timer);
  void refresh();

  std::pmr::vector<Timer*> heap_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t next_ns_ = ~std::uint64_t{0};
};

}  // namespace falafel::sim
