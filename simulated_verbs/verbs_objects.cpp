#include "simulated_verbs/verbs_objects.h"

#include <algorithm>

#include "fabric/sim/existing_programs.h"
#include "simulated_verbs/process_site.h"

namespace falafel::simulated_verbs {

MemoryRegion* VerbsObjects::find_region(const void* address) const {
  for (const auto& region : memory_regions.all()) {
    if (region->contains(address)) return region.get();
  }
  return nullptr;
}

bool VerbsObjects::has_windows_over(const MemoryRegion& region) const {
  return std::ranges::any_of(memory_windows.all(),
                             [&](const auto& window) { return window->is_bound_over(region); });
}

void VerbsObjects::withdraw(const MemoryRegion& region) const {
  sim::withdraw(device.process.host(), *region.region);
  receive_what_lands();
}

void VerbsObjects::receive_what_lands() const {
  for (const auto& queue_pair : queue_pairs.all()) sim::receive_what_lands(*queue_pair->pair);
}

}  // namespace falafel::simulated_verbs
