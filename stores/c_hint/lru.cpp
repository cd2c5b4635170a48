#include "stores/c_hint/lru.h"

#include "fabric/fabric.h"
#include "stores/c_hint/probe.h"

namespace falafel::c_hint {

void Lru::insert(Item item) {
  const bool is_new = places_.emplace(item, queue_.insert(queue_.end(), item)).second;
  FALAFEL_ASSERT(is_new, "item {} is in the queue already", item);
}

void Lru::hit(Item item, std::uint64_t /*accesses*/) {
  queue_.splice(queue_.end(), queue_, places_.at(item));
}

void Lru::erase(Item item) {
  const auto found = places_.find(item);
  if (found == places_.end()) return;
  queue_.erase(found->second);
  places_.erase(found);
}

std::optional<Item> Lru::evict(const LeaseEnded& has_ended) {
  const std::optional<Item> victim = probe(queue_, probes_, has_ended);
  if (victim) erase(*victim);
  return victim;
}

std::uint32_t Lru::queue_of(Item /*item*/) const { return 0; }

}  // namespace falafel::c_hint
