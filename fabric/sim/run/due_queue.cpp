#include "fabric/sim/run/due_queue.h"

#include <algorithm>

#include "fabric/sim/run/actor.h"

namespace falafel::sim::timing {

namespace {
constexpr std::uint32_t children = 4;
}  // namespace

DueQueue::Entry DueQueue::entry_of(Actor& actor) {
  return {actor.due_ns_, actor.waits_since_ns_, actor.actor_id_, &actor};
}

void DueQueue::place(const Entry& entry, std::uint32_t position) {
  heap_[position] = entry;
  entry.actor->due_position_ = position;
}

bool DueQueue::rise(const Entry& entry, std::uint32_t& position) {
  const std::uint32_t start = position;
  while (position > 0) {
    const std::uint32_t parent = (position - 1) / children;
    if (!before(entry, heap_[parent])) break;
    place(heap_[parent], position);
    position = parent;
  }
  return position != start;
}

void DueQueue::sink(const Entry& entry, std::uint32_t& position) {
  const auto size = static_cast<std::uint32_t>(heap_.size());
  for (;;) {
    const std::uint32_t first = children * position + 1;
    if (first >= size) return;
    const std::uint32_t end = std::min(first + children, size);
    std::uint32_t least = first;
    for (std::uint32_t child = first + 1; child < end; ++child) {
      if (before(heap_[child], heap_[least])) least = child;
    }
    if (!before(heap_[least], entry)) return;
    place(heap_[least], position);
    position = least;
  }
}

// Puts the entry where it belongs; its place is free.
void DueQueue::settle(const Entry& entry, std::uint32_t position) {
  if (!rise(entry, position)) sink(entry, position);
  place(entry, position);
}

void DueQueue::insert(Actor& actor) {
  heap_.emplace_back();
  settle(entry_of(actor), static_cast<std::uint32_t>(heap_.size() - 1));
}

void DueQueue::remove(Actor& actor) {
  const std::uint32_t position = actor.due_position_;
  FALAFEL_ASSERT(position < heap_.size() && heap_[position].actor == &actor,
                 "actor {} is not at position {} of the queue by time", actor.actor_id_, position);
  const Entry last = heap_.back();
  heap_.pop_back();
  if (last.actor != &actor) settle(last, position);
}

void DueQueue::move(Actor& actor) { settle(entry_of(actor), actor.due_position_); }

}  // namespace falafel::sim::timing
