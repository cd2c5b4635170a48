// The order in which a device places the data of one queue pair in a region: what the contract
// promises, or one of the two weaker orders that rights of the region permit (fabric/fabric.h,
// Access). Each permits more than those before it.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"

namespace falafel::fabric {

enum class RegionOrdering : std::uint8_t { strong, relaxed, unordered };

constexpr RegionOrdering ordering_of(const Access& access) {
  if (access.unordered) return RegionOrdering::unordered;
  return access.relaxed_ordering ? RegionOrdering::relaxed : RegionOrdering::strong;
}

}  // namespace falafel::fabric
