#include "stores/c_hint/popularity_queues.h"

#include <algorithm>
#include <bit>

#include "fabric/fabric.h"
#include "stores/c_hint/probe.h"

namespace falafel::c_hint {

std::uint32_t PopularityQueues::queue_for(std::uint64_t count) const {
  const auto logarithm = static_cast<std::uint32_t>(std::bit_width(count)) - 1;
  return std::min(logarithm, static_cast<std::uint32_t>(queues_.size()) - 1);
}

void PopularityQueues::move_to(Place& place, std::uint32_t queue) {
  queues_[queue].splice(queues_[queue].end(), queues_[place.queue], place.at);
  place.queue = queue;
}

void PopularityQueues::insert(Item item) {
  const auto at = queues_[0].insert(queues_[0].end(), item);
  const bool is_new = places_.emplace(item, Place{.at = at}).second;
  FALAFEL_ASSERT(is_new, "item {} is in a queue already", item);
}

void PopularityQueues::hit(Item item, std::uint64_t accesses) {
  Place& place = places_.at(item);
  place.count += accesses;
  move_to(place, std::max(place.queue, queue_for(place.count)));
}

void PopularityQueues::age(const LeaseEnded& has_ended) {
  for (std::uint32_t queue = 1; queue < queues_.size(); ++queue) {
    if (queues_[queue].empty() || !has_ended(queues_[queue].front())) continue;
    Place& place = places_.at(queues_[queue].front());
    if (aging_ == Aging::halves_count) place.count = std::max<std::uint64_t>(place.count / 2, 1);
    move_to(place, queue - 1);
  }
}

void PopularityQueues::erase(Item item) {
  const auto found = places_.find(item);
  if (found == places_.end()) return;
  queues_[found->second.queue].erase(found->second.at);
  places_.erase(found);
}

std::optional<Item> PopularityQueues::evict(const LeaseEnded& has_ended) {
  for (const std::list<Item>& queue : queues_) {
    if (const auto victim = probe(queue, probes_, has_ended)) {
      erase(*victim);
      return victim;
    }
  }
  return std::nullopt;
}

}  // namespace falafel::c_hint
