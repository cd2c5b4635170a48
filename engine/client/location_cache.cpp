#include "engine/client/location_cache.h"

#include <algorithm>
#include <new>

#include "fabric/text.h"

namespace falafel::engine {
using fabric::view_of;

LocationCache::LocationCache(std::uint64_t entries, std::uint64_t trust_ns)
    : sets_((entries + places_per_set - 1) / places_per_set), trust_ns_(trust_ns) {}

LocationCache::Place* LocationCache::place_of(std::span<const std::byte> key, std::uint64_t hash) {
  Set& set = set_of(hash);
  const auto place = std::ranges::find_if(set, [&](const Place& candidate) {
    return candidate.used != 0 && candidate.hash == hash && candidate.key == view_of(key);
  });
  return place == set.end() ? nullptr : &*place;
}

std::optional<Location> LocationCache::find(std::span<const std::byte> key, std::uint64_t hash,
                                            std::uint64_t now_ns) {
  Place* const place = place_of(key, hash);
  if (place == nullptr) return std::nullopt;
  if (now_ns - place->location.seen_ns > trust_ns_) {
    place->used = 0;
    return std::nullopt;
  }
  place->used = ++uses_;
  return place->location;
}

void LocationCache::remember(std::span<const std::byte> key, std::uint64_t hash,
                             const Location& location) {
  Place* place = place_of(key, hash);
  if (place == nullptr) {
    place = &*std::ranges::min_element(set_of(hash), {}, &Place::used);
    place->used = 0;
    try {
      place->key = view_of(key);
    } catch (const std::bad_alloc&) {
      return;
    }
    place->hash = hash;
  }
  place->location = location;
  place->used = ++uses_;
}

void LocationCache::forget(std::span<const std::byte> key, std::uint64_t hash) {
  if (Place* const place = place_of(key, hash)) place->used = 0;
}

}  // namespace falafel::engine
