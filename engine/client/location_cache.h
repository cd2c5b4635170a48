// Remembers where keys are in the table, so that an operation can use its first round trip for the
// entry itself: a GET reads entry and container together, and SET and DELETE swap at once.
//
// The cache is a set-associative array: the key's hash selects a set of four places, and the place
// that was used least recently is replaced. It therefore never grows and never searches.
//
// A remembered word may have changed. The operation detects this, unless the table has the same
// word again for another key. Words return only after their tags wrap around, so the cache trusts a
// word for a limited time since it was in the table (Safeguards::location_expiry, docs/protocol.md,
// "The location cache").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/layout/entry.h"

namespace falafel::engine {

// The place of a key: a slot whose entry is live.
struct Location {
  std::uint64_t slot = 0;
  Entry entry{};
  std::uint64_t container_bytes = 0;
  std::uint64_t seen_ns = 0;  // a time before the entry was seen in the table
};

class LocationCache {
 public:
  // For `entries` keys, rounded up to full sets. Throws std::bad_alloc.
  LocationCache(std::uint64_t entries, std::uint64_t trust_ns);

  bool is_on() const { return !sets_.empty(); }
  // `hash` is a hash of the key whose bits are all random.
  std::optional<Location> find(std::span<const std::byte> key, std::uint64_t hash,
                               std::uint64_t now_ns);
  // Replaces what the cache has for the key. Does nothing if there is no memory for the key.
  void remember(std::span<const std::byte> key, std::uint64_t hash, const Location& location);
  void forget(std::span<const std::byte> key, std::uint64_t hash);

 private:
  static constexpr std::size_t places_per_set = 4;
  struct Place {
    std::uint64_t hash = 0;
    std::uint64_t used = 0;  // when it was used last; 0: the place is free
    Location location;
    std::string key;
  };
  using Set = std::array<Place, places_per_set>;

  Set& set_of(std::uint64_t hash) { return sets_[(hash >> 32) % sets_.size()]; }
  Place* place_of(std::span<const std::byte> key, std::uint64_t hash);

  std::vector<Set> sets_;
  std::uint64_t trust_ns_;
  std::uint64_t uses_ = 0;
};

}  // namespace falafel::engine
