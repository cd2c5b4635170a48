#include "engine/server/memory_eviction.h"

namespace falafel::engine {

// The memory keeps the keys of evicted values until a cleanup.
bool MemoryEviction::make_room() {
  const std::uint64_t copied_bytes = book_.mature().allocated_bytes();
  const std::uint64_t cleaned = statistics_.entries_cleaned;
  // The collector or the cleanup may have moved values to where the hand had been.
  const auto has_changed = [&] {
    return book_.mature().allocated_bytes() != copied_bytes ||
           statistics_.entries_cleaned != cleaned;
  };
  const auto freed = eviction_.free_memory(evicted_part(options_, mature_.capacity_bytes()));
  if (freed.entries > 0) maintenance_.ask_for_cleanup();
  if (freed.entries > 0 || has_changed()) return true;
  if (!freed.met_deleted) return false;
  maintenance_.clean_up();
  return has_changed();
}

}  // namespace falafel::engine
