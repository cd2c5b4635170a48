// Completion queues. libibverbs cannot tell whether there is a completion without taking it, so what has
// been taken waits here until the program polls it; only then are the places of its requests free.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

#include "fabric/fabric.h"
#include "fabric/realtime/fiber_scheduler.h"
#include "fabric/verbs/resources.h"

namespace falafel::verbs {

class Network;
class QueuePair;

// Shared by the program's handle and by the queue pairs attached.
class CompletionQueueState {
 public:
  // `queue` belongs to this object from now on.
  CompletionQueueState(fabric::FiberScheduler& scheduler, Network& network, ChannelHandle channel,
                       ibv_cq* queue, std::uint32_t capacity);
  ~CompletionQueueState();
  CompletionQueueState(const CompletionQueueState&) = delete;
  CompletionQueueState& operator=(const CompletionQueueState&) = delete;

  ibv_cq* raw() const { return queue_; }
  std::uint32_t unreserved() const { return capacity_ - reserved_; }

  void attach(QueuePair& queue_pair, std::uint32_t entries);
  // After its destruction by the device: gives its entries back and drops its completions.
  void detach(const QueuePair& queue_pair, std::uint32_t entries);

  std::size_t poll(std::span<fabric::WorkCompletion> destination);
  bool wait(std::uint64_t deadline_ns);

  // For the network.
  bool is_awaited() const { return !waiters_.empty(); }
  bool collect();  // takes what the device has, and wakes who waits; whether there was something
  void ask_for_interrupt();

 private:
  struct Taken {
    fabric::WorkCompletion completion;
    QueuePair* queue_pair = nullptr;
    std::uint64_t sequence = 0;
  };
  static constexpr int batch_size = 16;

  void take(const ibv_wc& entry);

  fabric::FiberScheduler& scheduler_;
  Network& network_;
  ChannelHandle channel_;
  ibv_cq* queue_;
  std::uint32_t capacity_;
  std::uint32_t reserved_ = 0;
  std::unordered_map<std::uint32_t, QueuePair*> queue_pairs_;  // by number
  std::deque<Taken> taken_;
  fabric::WaitList waiters_;
};

class CompletionQueue final : public fabric::CompletionQueue {
 public:
  explicit CompletionQueue(std::shared_ptr<CompletionQueueState> state)
      : state_(std::move(state)) {}
  std::size_t poll(std::span<fabric::WorkCompletion> destination) override {
    return state_->poll(destination);
  }
  bool wait(std::uint64_t deadline_ns) override { return state_->wait(deadline_ns); }
  const std::shared_ptr<CompletionQueueState>& state() const { return state_; }

 private:
  std::shared_ptr<CompletionQueueState> state_;
};

}  // namespace falafel::verbs
