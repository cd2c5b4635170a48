#include "engine/server/garbage_collection.h"

#include "engine/probes.h"

namespace falafel::engine {

GarbageCollection::GarbageCollection(fabric::Host& host, const ServerOptions& options,
                                     MemoryBook& book, Collector& collector,
                                     Reclamation& reclamation, RegionGrants& grants,
                                     MatureSpace& mature, FiberMutex& moving,
                                     ServerStatistics& statistics)
    : host_(host),
      safeguards_(options.safeguards),
      book_(book),
      collector_(collector),
      reclamation_(reclamation),
      grants_(grants),
      mature_(mature),
      moving_(moving),
      statistics_(statistics),
      work_(host) {}

void GarbageCollection::run() {
  while (work_.take()) {
    if (book_.find(RegionState::released)) collect_released_regions();
    if (asked_for_) collect_mature_space(*asked_for_);
  }
}

void GarbageCollection::ask_for(std::uint32_t mature_space) {
  asked_for_ = mature_space;
  work_.raise();
}

void GarbageCollection::on_memory_changed() {
  work_.raise();
  grants_.on_change();
  mature_.on_change();
}

// Collection

void GarbageCollection::collect_released_regions() {
  const auto taking_turns = lock_if(safeguards_.exclusion, moving_);
  const std::vector<std::uint32_t> regions = take_released_regions();
  std::vector<CollectedMemory> collected;
  collected.reserve(regions.size());
  for (const std::uint32_t region : regions) {
    collected.push_back({.kind = CollectedMemory::Kind::region, .index = region});
  }
  collector_.move_regions(regions);
  settle_and_free([&] { retire(collected); });
  statistics_.regions_collected += collected.size();
}

// All of them, so that the server asks clients once whether they are quiescent.
std::vector<std::uint32_t> GarbageCollection::take_released_regions() {
  std::vector<std::uint32_t> regions;
  for (std::uint32_t index = 0; index < book_.region_count(); ++index) {
    if (book_.region(index).state != RegionState::released) continue;
    book_.set_state(index, RegionState::collecting);
    regions.push_back(index);
  }
  return regions;
}

void GarbageCollection::collect_mature_space(std::uint32_t space) {
  const auto taking_turns = lock_if(safeguards_.exclusion, moving_);
  collector_.move_mature_space(space);
  settle_and_free([&] {
    book_.mature().end_collection(space, safeguards_.epoch_reclamation);
    retire({{.kind = CollectedMemory::Kind::mature_space, .index = space}});
  });
  ++statistics_.mature_collections;
  asked_for_.reset();
  mature_.on_collected(space);
}

template <typename Free>
void GarbageCollection::settle_and_free(const Free& free_source) {
  if (!safeguards_.drain_before_free) free_source();
  collector_.settle();
  if (safeguards_.drain_before_free) free_source();
}

// Freeing

void GarbageCollection::retire(const std::vector<CollectedMemory>& memory) {
  if (!safeguards_.epoch_reclamation) {
    for (const CollectedMemory& collected : memory) free(collected);
    return;
  }
  for (const CollectedMemory& collected : memory) {
    if (collected.kind == CollectedMemory::Kind::region) {
      book_.set_state(collected.index, RegionState::waiting);
    }
  }
  reclamation_.add(memory);
  free_reclaimed();
  if (reclamation_.is_waiting()) host_.count(probes::reclamation_waited);
  grants_.on_change();
}

void GarbageCollection::free_reclaimed() {
  for (const CollectedMemory& memory : reclamation_.take_reclaimed()) free(memory);
}

void GarbageCollection::free(const CollectedMemory& memory) {
  if (memory.kind == CollectedMemory::Kind::region) {
    book_.set_state(memory.index, RegionState::free);
  } else {
    book_.mature().set_reclaimed(memory.index);
  }
  on_memory_changed();
}

}  // namespace falafel::engine
