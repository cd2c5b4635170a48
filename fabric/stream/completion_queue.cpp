#include "fabric/stream/completion_queue.h"

#include "fabric/stream/connection.h"

namespace falafel::stream {

CompletionQueue::~CompletionQueue() {
  FALAFEL_ASSERT(reserved_ == 0, "a completion queue is destroyed before its queue pairs");
}

void CompletionQueue::reserve(std::uint32_t entries) {
  FALAFEL_ASSERT(entries <= unreserved(), "{} entries are reserved of {} that are free", entries,
                 unreserved());
  reserved_ += entries;
}

void CompletionQueue::release(const Connection& owner, std::uint32_t entries) {
  FALAFEL_ASSERT(entries <= reserved_, "{} entries are released of {} that are reserved", entries,
                 reserved_);
  reserved_ -= entries;
  std::erase_if(entries_, [&](const Entry& entry) { return entry.owner == &owner; });
}

void CompletionQueue::push(const Entry& entry) {
  entries_.push_back(entry);
  waiters_.wake_all();
}

std::size_t CompletionQueue::poll(std::span<fabric::WorkCompletion> destination) {
  std::size_t taken = 0;
  while (taken < destination.size() && !entries_.empty()) {
    const Entry entry = entries_.front();
    entries_.pop_front();
    destination[taken++] = entry.completion;
    entry.owner->give_back_places(entry.completion.opcode, entry.places);
  }
  return taken;
}

bool CompletionQueue::wait(std::uint64_t deadline_ns) {
  if (!entries_.empty()) scheduler_.waited_for_nothing();
  // Another fiber may have polled the completion that woke this one.
  while (entries_.empty()) {
    if (!scheduler_.wait(&waiters_, deadline_ns) && scheduler_.gives_up(deadline_ns)) break;
  }
  return !entries_.empty();
}

}  // namespace falafel::stream
