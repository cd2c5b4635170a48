#include "tools/scenarios/store/growth_worlds.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/layout/container.h"

namespace falafel::store_scenario {
namespace {

// As much as all keys need, for containers of the usual or of any other length.
void make_room(engine::Geometry& geometry, std::uint64_t keys) {
  const std::uint64_t regions =
      (keys * engine::container_bytes(usual_key_bytes, 0) + geometry.region_bytes - 1) /
      geometry.region_bytes;
  if (geometry.has_blocks()) {
    geometry.mature_space_count += static_cast<std::uint32_t>(keys);
  } else {
    geometry.mature_bytes += std::max(regions, keys / 2) * geometry.region_bytes;
  }
}

// The attacks go to one or two slots of all tables.
void spread_attacks(fabric::RandomGenerator& random, Scenario& scenario) {
  if (scenario.attacks.empty()) return;
  const std::uint64_t count = scenario.geometry.slot_count();
  const std::uint64_t first = random.below(count);
  const std::uint64_t second = random.below(count);
  for (PlannedAttack& attack : scenario.attacks)
    attack.slot = attack.slot % 2 == 0 ? first : second;
}

}  // namespace

void make_table_grow(fabric::RandomGenerator& random, Scenario& scenario) {
  constexpr std::array<std::uint64_t, 6> lengths{1, 2, 3, 4, 4, 5};
  engine::Geometry& geometry = scenario.geometry;
  geometry.table_entries = lengths[random.below(lengths.size())];
  geometry.most_tables = static_cast<std::uint32_t>(2 + random.below(3));
  // Some worlds fill the last table.
  const std::uint64_t most_keys = geometry.entries_of(geometry.most_tables - 1) + 2;
  const std::uint64_t keys = 1 + geometry.table_entries + random.below(most_keys);
  make_room(geometry, keys);
  for (ClientPlan& client : scenario.clients) {
    for (PlannedOperation& operation : client.operations) {
      const bool is_of_few_keys = random.below(2) == 0;
      const std::uint64_t key =
          random.below(is_of_few_keys ? std::min<std::uint64_t>(keys, 3) : keys);
      operation.key = static_cast<std::uint32_t>(key);
      // "key 10" leaves less room than "key 0".
      operation.value_bytes -= std::min(operation.value_bytes, 1U);
    }
  }
  spread_attacks(random, scenario);
}

}  // namespace falafel::store_scenario
