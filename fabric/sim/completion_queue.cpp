#include "fabric/sim/completion_queue.h"

#include "fabric/sim/fiber.h"
#include "fabric/sim/host.h"
#include "fabric/sim/queue_pair.h"
#include "fabric/sim/world.h"

namespace falafel::sim {

CompletionQueueState::CompletionQueueState(World& world, Host& host, std::uint32_t capacity)
    : world_(world),
      host_(host),
      number_(static_cast<std::uint32_t>(world.completion_queues.size())),
      capacity_(capacity) {}

void CompletionQueueState::touch(Access access) const {
  world_.touch(Touchable::completion_queue, number_, access);
}

CompletionQueueState::Entry& CompletionQueueState::push() {
  FALAFEL_ASSERT(end_ - first_ < capacity_, "completion queue of {} overflows its {} entries",
                 host_.name(), capacity_);
  touch(Access::writes);
  ring_.make_room(first_, end_, 1);
  if (!waiters_.empty()) waiters_.wake_all();
  ++arrivals_;
  if (event_ != nullptr) event_->notify_all();
  return ring_[end_++];
}

std::size_t CompletionQueueState::poll(std::span<fabric::WorkCompletion> destination) {
  touch(first_ == end_ ? Access::reads : Access::writes);
  if (world_.running != nullptr) {
    world_.running->count_call({Call::Kind::completion_queue, number_});
  }
  if (world_.costs != nullptr) host_.spend(fabric::Work::lock, 0);
  std::size_t taken = 0;
  while (taken < destination.size() && first_ != end_) {
    const Entry& entry = ring_[first_++];
    destination[taken++] = entry.completion;
    if (world_.costs != nullptr) spend_on_message(entry);
    entry.queue_pair->give_back_places(entry.completion.opcode, entry.retires);
    if (entry.shows_before != 0) entry.queue_pair->show_writes_of_peer(entry.shows_before);
  }
  return taken;
}

// The kernel copies a message of a stream when the program receives it.
void CompletionQueueState::spend_on_message(const Entry& entry) const {
  const bool is_message = fabric::is_receive(entry.completion.opcode) &&
                          entry.completion.status == fabric::CompletionStatus::success;
  if (world_.running == nullptr || !is_message) return;
  if (!entry.queue_pair->connection().is_stream()) return;
  world_.running->spend(world_.costs->stream_receive_ps(entry.completion.length_bytes));
}

bool CompletionQueueState::wait(std::uint64_t deadline_ns) {
  touch(Access::reads);
  Fiber& fiber = world_.current_fiber();
  fiber.count_call({Call::Kind::completion_queue, number_});
  if (first_ != end_) return true;
  // Another fiber may have polled the completion that woke this one.
  do {
    fiber.wait(&waiters_, deadline_ns, "a completion");
  } while (first_ == end_ && !fiber.cancelled() && host_.now_ns() < deadline_ns);
  return first_ != end_;
}

void CompletionQueueState::release(const QueuePairActor& queue_pair, std::uint32_t entries) {
  FALAFEL_ASSERT(entries <= reserved_, "{} entries are given back of {} reserved", entries,
                 reserved_);
  touch(Access::writes);
  reserved_ -= entries;
  std::uint64_t end_of_kept = first_;
  for (std::uint64_t index = first_; index != end_; ++index) {
    const Entry entry = ring_[index];
    if (entry.queue_pair != &queue_pair) {
      ring_[end_of_kept++] = entry;
    } else if (fabric::is_receive(entry.completion.opcode)) {
      entry.queue_pair->give_back_places(entry.completion.opcode, entry.retires);
    }
  }
  end_ = end_of_kept;
}

}  // namespace falafel::sim
