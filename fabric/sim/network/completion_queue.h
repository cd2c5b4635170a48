// Completion queues of the simulator. A queue cannot overflow, because attaching a queue pair
// reserves entries for all of its requests.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"
#include "fabric/sim/network/poll_effects.h"
#include "fabric/sim/network/ring.h"
#include "fabric/sim/run/fiber.h"
#include "fabric/sim/run/world.h"
#include "fabric/sim/touches.h"

namespace falafel::sim {

class HostState;

inline constexpr std::uint64_t all_places = ~std::uint64_t{0};

// The WRITEs of the peer that the processor sees because of the status alone: before a flush, all
// have landed.
constexpr std::uint64_t shown_by(fabric::CompletionStatus status) {
  return status == fabric::CompletionStatus::flushed ? all_places : 0;
}

// Shared by the program's completion queue and the queue pairs attached to it.
class CompletionQueueState {
 public:
  CompletionQueueState(World& world, HostState& host, std::uint32_t capacity);

  // When the completion is polled, it gives back `retires` places of its queue, and the processor
  // sees the WRITEs before the place `shows_before` in the peer's send queue.
  struct Entry {
    fabric::WorkCompletion completion;
    const PollEffects* effects = nullptr;  // on its queue pair
    std::uint32_t retires = 0;
    bool is_receive = false;  // also if the completion does not say so, because it failed
    std::uint64_t shows_before = 0;
    bool is_left = false;  // its queue pair is closed
  };

  // How many completions have ever arrived, and how many wait to be polled.
  std::uint64_t arrivals() const { return arrivals_; }
  // How many of them were failures, or of solicited messages.
  std::uint64_t urgent_arrivals() const { return urgent_arrivals_; }
  std::uint64_t size() const { return end_ - first_; }
  // From now on, each arrival notifies the event too. Null: none.
  void set_event(fabric::Event* event) { event_ = event; }

  std::uint32_t unreserved() const { return capacity_ - reserved_; }
  void reserve(std::uint32_t entries) {
    FALAFEL_ASSERT(entries <= unreserved(), "{} entries are reserved of {} that are free", entries,
                   unreserved());
    reserved_ += entries;
  }
  // Gives back the entries that a closed queue pair had reserved, and drops its completions. With
  // completions_outlive_queue_pair, they stay, each in an entry that is reserved until it is
  // polled.
  void release(const PollEffects& effects, std::uint32_t entries);

  // Appends an entry, which the caller fills, and wakes those who wait.
  Entry& push() {
    FALAFEL_ASSERT(end_ - first_ < capacity_, "completion queue {} overflows its {} entries",
                   number_, capacity_);
    touch(Access::writes);
    ring_.make_room(first_, end_, 1);
    if (!waiters_.empty()) waiters_.wake_all();
    ++arrivals_;
    if (event_ != nullptr) event_->notify_all();
    return ring_[end_++];
  }
  // The entry that was pushed last is of a request that failed. With undefined_failure_fields, its
  // other fields get arbitrary values.
  void newest_has_failed();
  // The entry that was pushed last is of a solicited message.
  void newest_is_urgent() { ++urgent_arrivals_; }
  std::size_t poll(std::span<fabric::WorkCompletion> destination);
  bool wait(std::uint64_t deadline_ns);

  HostState& host() const { return host_; }

 private:
  void touch(Access access) const { world_.touch(Touchable::completion_queue, number_, access); }
  void spend_on_message(const Entry& entry) const;
  void take_effect(const Entry& entry);

  World& world_;
  HostState& host_;
  std::uint32_t number_;
  std::uint32_t capacity_;
  std::uint32_t reserved_ = 0;
  Ring<Entry> ring_;  // [first_, end_)
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t arrivals_ = 0;
  std::uint64_t urgent_arrivals_ = 0;
  fabric::Event* event_ = nullptr;
  fabric::WaitList waiters_;
};

class CompletionQueue final : public fabric::CompletionQueue {
 public:
  explicit CompletionQueue(CompletionQueueState& state) : state_(state) {}
  std::size_t poll(std::span<fabric::WorkCompletion> destination) override {
    return state_.poll(destination);
  }
  bool wait(std::uint64_t deadline_ns) override { return state_.wait(deadline_ns); }
  CompletionQueueState& state() const { return state_; }

 private:
  CompletionQueueState& state_;
};

}  // namespace falafel::sim
