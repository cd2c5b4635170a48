#include "tools/scenarios/store/memory_growth_worlds.h"

#include <algorithm>
#include <cstdint>

namespace falafel::store_scenario {

void make_memory_grow(fabric::RandomGenerator& random, Scenario& scenario) {
  engine::Geometry& geometry = scenario.geometry;
  if (!geometry.has_blocks()) {
    const std::uint64_t blocks =
        engine::fewest_blocks + geometry.mature_bytes / geometry.region_bytes;
    geometry.mature_bytes = geometry.region_bytes;
    geometry.mature_space_count = static_cast<std::uint32_t>(blocks);
  }
  const std::uint64_t more_blocks = random.below(9);
  const std::uint64_t least_blocks = random.below(4);
  const std::uint64_t refusal_rate = std::uint64_t{2} << random.below(5);
  const bool refuses = random.below(2) == 0;
  geometry.mature_space_count += static_cast<std::uint32_t>(more_blocks);
  scenario.memory_grows = true;
  scenario.least_held_bytes = least_blocks * geometry.mature_bytes;
  if (refuses) {
    scenario.simulation.set_fault_rate(sim::FaultKind::registration_failure, refusal_rate);
  }
}

}  // namespace falafel::store_scenario
