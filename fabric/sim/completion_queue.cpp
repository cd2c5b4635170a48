#include "fabric/sim/completion_queue.h"

#include "fabric/sim/host.h"
#include "fabric/sim/queue_pair.h"
#include "fabric/sim/world.h"

namespace falafel::sim {

CompletionQueueCore::CompletionQueueCore(World& world, HostCore& host, std::uint32_t capacity)
    : world_(world), host_(host), capacity_(capacity), ring_(4) {}

void CompletionQueueCore::push(const Entry& entry) {
  FALAFEL_ASSERT(size_ < capacity_, "completion queue of {} overflows its {} entries", host_.name(),
                 capacity_);
  if (size_ == ring_.size()) {
    std::vector<Entry> larger(ring_.size() * 2);
    for (std::size_t index = 0; index < size_; ++index) {
      larger[index] = ring_[(first_ + index) % ring_.size()];
    }
    ring_ = std::move(larger);
    first_ = 0;
  }
  ring_[(first_ + size_) & (ring_.size() - 1)] = entry;  // the size is a power of two
  ++size_;
  if (!waiters_.empty()) waiters_.wake_all();
}

std::size_t CompletionQueueCore::poll(std::span<fabric::WorkCompletion> destination) {
  std::size_t taken = 0;
  while (taken < destination.size() && size_ > 0) {
    const Entry& entry = ring_[first_];
    destination[taken++] = entry.completion;
    entry.queue_pair->retire(entry.completion.opcode, entry.retires);
    first_ = (first_ + 1) & (ring_.size() - 1);
    --size_;
  }
  return taken;
}

bool CompletionQueueCore::wait(std::uint64_t deadline_ns) {
  // Another fiber may have polled what woke this one.
  while (size_ == 0) {
    world_.current_fiber().wait(&waiters_, deadline_ns, "a completion");
    if (world_.trace.time_ns() >= deadline_ns) break;
  }
  return size_ > 0;
}

void CompletionQueueCore::release(const QueuePairCore& queue_pair, std::uint32_t entries) {
  reserved_ -= entries;
  std::size_t kept = 0;
  for (std::size_t index = 0; index < size_; ++index) {
    const Entry entry = ring_[(first_ + index) & (ring_.size() - 1)];
    if (entry.queue_pair != &queue_pair) ring_[(first_ + kept++) & (ring_.size() - 1)] = entry;
  }
  size_ = kept;
}

}  // namespace falafel::sim
