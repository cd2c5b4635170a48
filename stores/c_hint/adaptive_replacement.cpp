#include "stores/c_hint/adaptive_replacement.h"

#include <algorithm>

namespace falafel::c_hint {

void AdaptiveReplacement::move_to(Place& place, Name list) {
  lists_[list].splice(lists_[list].end(), lists_[place.list], place.at);
  place.list = list;
}

void AdaptiveReplacement::forget_oldest(Name list) {
  places_.erase(lists_[list].front());
  lists_[list].pop_front();
}

// REPLACE of the paper: a cached item becomes a ghost.
AdaptiveReplacement::Item AdaptiveReplacement::replace(bool hits_frequent_ghost) {
  const bool takes_recent =
      size_of(recent) > 0 &&
      (size_of(recent) > target_ || (hits_frequent_ghost && size_of(recent) == target_) ||
       size_of(frequent) == 0);
  const Name from = takes_recent ? recent : frequent;
  const Item victim = lists_[from].front();
  move_to(places_.at(victim), takes_recent ? recent_ghosts : frequent_ghosts);
  return victim;
}

// Case IV of the paper: the item is in none of the lists.
std::optional<AdaptiveReplacement::Item> AdaptiveReplacement::make_room_for_new() {
  const std::uint64_t once = size_of(recent) + size_of(recent_ghosts);
  const std::uint64_t all = once + size_of(frequent) + size_of(frequent_ghosts);
  if (once == capacity_) {
    if (size_of(recent) < capacity_) {
      forget_oldest(recent_ghosts);
      return size() == capacity_ ? std::optional(replace(false)) : std::nullopt;
    }
    const Item victim = lists_[recent].front();
    forget_oldest(recent);
    return victim;
  }
  if (all == 2 * capacity_) forget_oldest(frequent_ghosts);
  return size() == capacity_ ? std::optional(replace(false)) : std::nullopt;
}

std::optional<AdaptiveReplacement::Item> AdaptiveReplacement::access(Item item) {
  const auto found = places_.find(item);
  if (found == places_.end()) {
    const std::optional<Item> victim = make_room_for_new();
    places_[item] = {.list = recent, .at = lists_[recent].insert(lists_[recent].end(), item)};
    return victim;
  }
  Place& place = found->second;
  std::optional<Item> victim;
  if (place.list == recent_ghosts) {
    const std::uint64_t step =
        std::max<std::uint64_t>(size_of(frequent_ghosts) / size_of(recent_ghosts), 1);
    target_ = std::min(target_ + step, capacity_);
    if (size() == capacity_) victim = replace(false);
  } else if (place.list == frequent_ghosts) {
    const std::uint64_t step =
        std::max<std::uint64_t>(size_of(recent_ghosts) / size_of(frequent_ghosts), 1);
    target_ -= std::min(target_, step);
    if (size() == capacity_) victim = replace(true);
  }
  move_to(place, frequent);
  return victim;
}

void AdaptiveReplacement::erase(Item item) {
  const auto found = places_.find(item);
  if (found == places_.end()) return;
  lists_[found->second.list].erase(found->second.at);
  places_.erase(found);
}

bool AdaptiveReplacement::is_cached(Item item) const {
  const auto found = places_.find(item);
  return found != places_.end() && (found->second.list == recent || found->second.list == frequent);
}

}  // namespace falafel::c_hint
