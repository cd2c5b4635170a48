// Completions of the queue pairs of one host. They are in private memory, because this process
// carries out the requests of its queue pairs itself.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/assert.h"
#include "fabric/fabric.h"
#include "fabric/realtime/fiber_scheduler.h"

namespace falafel::shm {

class Host;
class QueuePair;

class CompletionQueue final : public fabric::CompletionQueue {
 public:
  CompletionQueue(Host& host, std::uint32_t capacity);

  std::size_t poll(std::span<fabric::WorkCompletion> destination) override;
  bool wait(std::uint64_t deadline_ns) override;

  // Makes room for the completions of requests that are about to be posted, because push() must
  // not need memory. Throws std::bad_alloc; nothing has changed then.
  void expect(std::uint32_t requests) {
    if (expected_ + requests > mask_ + 1) grow(expected_ + requests);
    expected_ += requests;
  }
  // The requests were not posted, or their completions will not be polled.
  void expect_no_more(std::uint32_t requests) { expected_ -= requests; }
  // `places`: the number of places of the queue pair that become free when this completion is
  // polled.
  [[gnu::always_inline]] void push(const fabric::WorkCompletion& completion, QueuePair& queue_pair,
                                   std::uint32_t places) {
    FALAFEL_ASSERT(end_ - first_ < capacity_, "a completion queue overflows its {} entries",
                   capacity_);
    FALAFEL_ASSERT(end_ - first_ <= mask_, "a completion of queue pair {} was not expected",
                   completion.queue_pair_number);
    entry(end_++) = {.completion = completion, .queue_pair = &queue_pair, .places = places};
    if (!waiters_.empty()) waiters_.wake_all();
  }

  Host& host() const { return host_; }
  std::uint32_t unreserved() const { return capacity_ - reserved_; }
  void reserve(std::uint32_t entries);
  // Removes the completions of a queue pair that is closed, and its reservation.
  void release(const QueuePair& queue_pair, std::uint32_t entries);

 private:
  struct Entry {
    fabric::WorkCompletion completion;
    QueuePair* queue_pair = nullptr;
    std::uint32_t places = 0;
  };
  Entry& entry(std::uint64_t index) { return ring_[index & mask_]; }
  void grow(std::size_t least_entries);

  Host& host_;
  std::uint32_t capacity_;
  std::uint32_t reserved_ = 0;
  std::uint32_t expected_ = 0;  // posted requests that no polled completion has reported
  std::vector<Entry> ring_;     // a power of two, at least expected_
  std::uint64_t mask_;          // the number of its entries, minus one
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  fabric::WaitList waiters_;
};

}  // namespace falafel::shm
