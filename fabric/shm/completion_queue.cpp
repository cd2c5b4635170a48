#include "fabric/shm/completion_queue.h"

#include <bit>

#include "fabric/realtime/clock.h"
#include "fabric/shm/host.h"
#include "fabric/shm/queue_pair.h"

namespace falafel::shm {
namespace {
constexpr std::size_t first_ring_entries = 16;
}

CompletionQueue::CompletionQueue(Host& host, std::uint32_t capacity)
    : host_(host), capacity_(capacity), ring_(first_ring_entries), mask_(first_ring_entries - 1) {}

void CompletionQueue::reserve(std::uint32_t entries) {
  FALAFEL_ASSERT(entries <= unreserved(), "{} entries are reserved of {} that are free", entries,
                 unreserved());
  reserved_ += entries;
}

void CompletionQueue::grow(std::size_t least_entries) {
  std::vector<Entry> larger(std::bit_ceil(least_entries));
  for (std::uint64_t index = first_; index != end_; ++index) {
    larger[index & (larger.size() - 1)] = entry(index);
  }
  ring_ = std::move(larger);
  mask_ = ring_.size() - 1;
}

std::size_t CompletionQueue::poll(std::span<fabric::WorkCompletion> destination) {
  if (first_ == end_) host_.progress();
  std::size_t taken = 0;
  while (taken < destination.size() && first_ != end_) {
    const Entry& oldest = entry(first_++);
    destination[taken++] = oldest.completion;
    expect_no_more(oldest.places);
    oldest.queue_pair->free_places(oldest.completion.opcode, oldest.places);
  }
  return taken;
}

bool CompletionQueue::wait(std::uint64_t deadline_ns) {
  if (first_ != end_) {
    host_.scheduler().waited_for_nothing();
    return true;
  }
  // Another fiber may have polled the completion that woke this one.
  while (first_ == end_) {
    host_.scheduler().wait(&waiters_, deadline_ns);
    if (first_ == end_ && host_.scheduler().gives_up(deadline_ns)) return false;
  }
  return true;
}

void CompletionQueue::release(const QueuePair& queue_pair, std::uint32_t entries) {
  FALAFEL_ASSERT(entries <= reserved_, "{} entries are released of {} that are reserved", entries,
                 reserved_);
  reserved_ -= entries;
  std::uint64_t end_of_kept = first_;
  for (std::uint64_t index = first_; index != end_; ++index) {
    const Entry kept = entry(index);
    if (kept.queue_pair != &queue_pair) entry(end_of_kept++) = kept;
  }
  end_ = end_of_kept;
}

}  // namespace falafel::shm
