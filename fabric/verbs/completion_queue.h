// Completion queues. libibverbs cannot tell whether there is a completion without taking it.
// Completions that were taken therefore wait here until the program polls them; only then do their
// requests free their places.
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

// Shared by the program's completion queue and the queue pairs attached to it.
class CompletionQueueState {
 public:
  // Takes ownership of `queue`.
  CompletionQueueState(fabric::FiberScheduler& scheduler, Network& network, ChannelHandle channel,
                       ibv_cq* queue, std::uint32_t capacity);
  ~CompletionQueueState();
  CompletionQueueState(const CompletionQueueState&) = delete;
  CompletionQueueState& operator=(const CompletionQueueState&) = delete;

  ibv_cq* raw() const { return queue_; }
  std::uint32_t unreserved() const { return capacity_ - reserved_; }

  void attach(QueuePair& queue_pair, std::uint32_t entries);
  // Call it after the device has destroyed the queue pair. Frees its entries and drops its
  // completions.
  void detach(QueuePair& queue_pair, std::uint32_t entries);

  std::size_t poll(std::span<fabric::WorkCompletion> destination);
  bool wait(std::uint64_t deadline_ns);

  // For the network.
  bool is_awaited() const { return !waiters_.empty(); }
  // Takes all completions from the device and wakes the waiting fibers. Returns whether any is left
  // to poll.
  bool collect() noexcept;
  void ask_for_interrupt();
  void on_port_error(int port) const;

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
