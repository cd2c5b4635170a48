#include "fabric/sim/words/region_table.h"

#include <algorithm>
#include <utility>

namespace falafel::sim {

std::uint32_t RegionTable::add(Region region) {
  regions_.push_back(std::move(region));
  return ++keys_given_;
}

std::vector<std::uint32_t> RegionTable::former_keys(const HostState& host,
                                                    std::uint32_t incarnation) const {
  std::vector<std::uint32_t> keys;
  for (std::uint32_t key = 1; key <= keys_given_; ++key) {
    const Region& region = regions_[key - 1];
    const bool is_former = region.incarnation != incarnation;
    if (is_former && region.host == &host) keys.push_back(key);
  }
  return keys;
}

void RegionTable::replace(std::uint32_t key, Region region) {
  replaced_.push_back({.key = key, .region = std::exchange(at(key), std::move(region))});
}

Region& RegionTable::at(std::uint32_t key, std::uint32_t incarnation) {
  Region& newest = at(key);
  if (newest.incarnation == incarnation) return newest;
  const auto found = std::ranges::find_if(replaced_, [&](const Replaced& replaced) {
    return replaced.key == key && replaced.region.incarnation == incarnation;
  });
  FALAFEL_ASSERT(found != replaced_.end(), "key {} had no region in incarnation {}", key,
                 incarnation);
  return found->region;
}

std::size_t RegionTable::count_valid(const HostState& host) const {
  return static_cast<std::size_t>(std::ranges::count_if(regions_, [&](const Region& region) {
    return !region.revoked && region.window_of == 0 && region.host == &host;
  }));
}

}  // namespace falafel::sim
