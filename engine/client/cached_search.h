// The use of the location cache. An operation whose key is in the cache tries the remembered entry
// first. If the entry has changed, the operation looks at the new one, and falls back to FIND only
// if that does not lead to the key either.
//
// If the entry in the slot still is the remembered word, it has been there all the time since it
// was seen, because words do not return while the cache trusts them. Its container has therefore
// not changed since then either, and a READ of it is correct even if the network carries it out
// before the READ of the entry (docs/protocol.md, "The location cache").
#pragma once

#include <cstdint>
#include <optional>

#include "engine/client/find.h"
#include "engine/client/location_cache.h"
#include "engine/client/pending_operation.h"
#include "engine/layout/entry.h"
#include "engine/layout/key_hash.h"

namespace falafel::engine {

class CachedSearch {
 public:
  // The operation has begun, and waits for nothing but its own round trips until it uses the
  // location.
  CachedSearch(PendingOperation& operation, const HashedKey& key);

  const std::optional<Location>& location() const { return location_; }

  // Reads the remembered entry together with its container. Returns nullopt if FIND has to search.
  // Waits.
  std::optional<FindResult> read();
  // The entry was `current` instead of the remembered one. Returns nullopt if FIND has to search.
  // Waits.
  std::optional<FindResult> look_again(Entry current);

  // A swap of the remembered entry succeeded.
  void on_hit();
  // The key is in this entry, or is not in the store.
  void remember(std::uint64_t slot, Entry entry, std::uint64_t container_bytes);
  void forget();

 private:
  LocationCache& cache_;
  PendingOperation& operation_;
  HashedKey key_;
  std::uint64_t begun_ns_ = 0;
  std::optional<Location> location_;
};

}  // namespace falafel::engine
