#include "stores/c_hint/multi_queue.h"

#include <algorithm>
#include <bit>

#include "fabric/fabric.h"

namespace falafel::c_hint {

std::uint32_t MultiQueue::queue_for(std::uint64_t count) const {
  const auto logarithm = static_cast<std::uint32_t>(std::bit_width(count)) - 1;
  return std::min(logarithm, static_cast<std::uint32_t>(queues_.size()) - 1);
}

// The item's count before it was evicted, and forgets it; 0 if it is not remembered.
std::uint64_t MultiQueue::take_ghost(Item item) {
  const auto found = ghosts_.find(item);
  if (found == ghosts_.end()) return 0;
  const std::uint64_t count = found->second.count;
  ghost_queue_.erase(found->second.at);
  ghosts_.erase(found);
  return count;
}

void MultiQueue::remember(Item item, std::uint64_t count) {
  if (most_ghosts_ == 0) return;
  if (ghosts_.size() == most_ghosts_) {
    ghosts_.erase(ghost_queue_.front());
    ghost_queue_.pop_front();
  }
  ghosts_[item] = {.count = count, .at = ghost_queue_.insert(ghost_queue_.end(), item)};
}

void MultiQueue::move_to(Place& place, std::uint32_t queue) {
  queues_[queue].splice(queues_[queue].end(), queues_[place.queue], place.at);
  place.queue = queue;
  place.expires_at = accesses_ + life_time_;
}

void MultiQueue::insert(Item item) {
  const auto at = queues_[0].insert(queues_[0].end(), item);
  const auto [place, is_new] =
      places_.emplace(item, Place{.count = take_ghost(item) + 1, .at = at});
  FALAFEL_ASSERT(is_new, "item {} is in a queue already", item);
  move_to(place->second, queue_for(place->second.count));
  adjust();
}

void MultiQueue::hit(Item item, std::uint64_t accesses) {
  Place& place = places_.at(item);
  place.count += accesses;
  move_to(place, queue_for(place.count));
  adjust();
}

void MultiQueue::adjust() {
  ++accesses_;
  for (std::uint32_t queue = 1; queue < queues_.size(); ++queue) {
    if (queues_[queue].empty()) continue;
    Place& place = places_.at(queues_[queue].front());
    if (place.expires_at < accesses_) move_to(place, queue - 1);
  }
}

void MultiQueue::erase(Item item) {
  const auto found = places_.find(item);
  if (found == places_.end()) return;
  queues_[found->second.queue].erase(found->second.at);
  places_.erase(found);
}

std::optional<Item> MultiQueue::evict(const LeaseEnded& has_ended) {
  for (const std::list<Item>& queue : queues_) {
    if (queue.empty() || !has_ended(queue.front())) continue;
    const Item victim = queue.front();
    remember(victim, places_.at(victim).count);
    erase(victim);
    return victim;
  }
  return std::nullopt;
}

}  // namespace falafel::c_hint
