#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

MemoryRegion* VerbsObjects::find_region(const void* address) const {
  for (const auto& region : memory_regions.all()) {
    if (region->contains(address)) return region.get();
  }
  return nullptr;
}

}  // namespace falafel::simulated_verbs
