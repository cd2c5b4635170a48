#include "fabric/sim/network/completion_queue.h"

#include "fabric/random.h"
#include "fabric/sim/run/fiber.h"
#include "fabric/sim/run/host_state.h"
#include "fabric/sim/run/world.h"

namespace falafel::sim {

CompletionQueueState::CompletionQueueState(World& world, HostState& host, std::uint32_t capacity)
    : world_(world),
      host_(host),
      number_(static_cast<std::uint32_t>(world.completion_queues.size())),
      capacity_(capacity) {}

// The values depend on the request alone, so equivalent runs of an exploration have the same ones.
void CompletionQueueState::newest_has_failed() {
  ++urgent_arrivals_;
  if (!world_.options.undefined_failure_fields) return;
  constexpr auto opcodes = static_cast<std::uint64_t>(fabric::Opcode::masked_fetch_and_add) + 1;
  fabric::WorkCompletion& completion = ring_[end_ - 1].completion;
  fabric::RandomGenerator random(completion.id ^ std::uint64_t{completion.queue_pair_number}
                                                     << 32U);
  completion.opcode = static_cast<fabric::Opcode>(random.below(opcodes));
  completion.length_bytes = static_cast<std::uint32_t>(random.next());
  completion.source.host = static_cast<std::uint32_t>(random.next());
  completion.source.queue_pair_number = static_cast<std::uint32_t>(random.next());
  completion.immediate = static_cast<std::uint32_t>(random.next());
}

std::size_t CompletionQueueState::poll(std::span<fabric::WorkCompletion> destination) {
  touch(first_ == end_ ? Access::reads : Access::writes);
  if (world_.running != nullptr) {
    world_.running->count_call(host_, {Call::Kind::completion_queue, number_});
  }
  if (world_.costs != nullptr) world_.spend(fabric::Work::lock, 0);
  std::size_t taken = 0;
  while (taken < destination.size() && first_ != end_) {
    const Entry& entry = ring_[first_++];
    destination[taken++] = entry.completion;
    if (world_.costs != nullptr) spend_on_message(entry);
    take_effect(entry);
  }
  return taken;
}

void CompletionQueueState::take_effect(const Entry& entry) {
  if (entry.is_left) {
    --reserved_;
    return;
  }
  entry.effects->give_back_places(entry.is_receive, entry.retires);
  if (entry.shows_before != 0) entry.effects->show_writes_of_peer(entry.shows_before);
}

// The kernel copies a message of a stream when the program receives it.
void CompletionQueueState::spend_on_message(const Entry& entry) const {
  const bool is_message =
      entry.is_receive && entry.completion.status == fabric::CompletionStatus::success;
  if (world_.running == nullptr || !is_message) return;
  if (!entry.effects->is_of_stream()) return;
  world_.spend(world_.costs->stream_receive_ps(entry.completion.length_bytes));
}

bool CompletionQueueState::wait(std::uint64_t deadline_ns) {
  touch(Access::reads);
  Fiber& fiber = world_.current_fiber();
  fiber.count_call(host_, {Call::Kind::completion_queue, number_});
  if (first_ != end_) return true;
  // Another fiber may have polled the completion that woke this one.
  do {
    fiber.wait(&waiters_, deadline_ns, "a completion");
  } while (first_ == end_ && !fiber.cancelled() && fiber.read_clock(host_.clock()) < deadline_ns);
  return first_ != end_;
}

void CompletionQueueState::release(const PollEffects& effects, std::uint32_t entries) {
  FALAFEL_ASSERT(entries <= reserved_, "{} entries are given back of {} reserved", entries,
                 reserved_);
  touch(Access::writes);
  reserved_ -= entries;
  std::uint64_t end_of_kept = first_;
  for (std::uint64_t index = first_; index != end_; ++index) {
    Entry entry = ring_[index];
    const bool ends = entry.effects == &effects && !entry.is_left;
    if (ends) {
      if (entry.is_receive) entry.effects->give_back_places(entry.is_receive, entry.retires);
      if (!world_.options.completions_outlive_queue_pair) continue;
      entry.is_left = true;
      ++reserved_;
    }
    ring_[end_of_kept++] = entry;
  }
  end_ = end_of_kept;
}

}  // namespace falafel::sim
