#include "tools/scenarios/store/hostile_worlds.h"

#include <vector>

namespace falafel::store_scenario {
namespace {

// Prefixes of the list of kinds: messages alone; messages and words without containers.
constexpr std::uint64_t message_kinds = 8;
constexpr std::uint64_t kinds_without_containers = 11;
constexpr std::uint64_t kinds_without_tricks = 13;

std::uint64_t draw_number(fabric::RandomGenerator& random) {
  const std::uint64_t bits = random.below(65);
  return bits == 64 ? random.next() : random.below(std::uint64_t{1} << bits);
}

}  // namespace

void add_hostile_client(fabric::RandomGenerator& random, Scenario& scenario) {
  constexpr std::uint64_t most_drawn_attacks = 8;
  const std::uint64_t reach = random.below(3);
  const std::uint64_t kinds = reach == 0   ? message_kinds
                              : reach == 1 ? kinds_without_containers
                                           : kinds_without_tricks;
  std::vector<std::uint64_t> slots{random.below(scenario.geometry.table_entries)};
  const bool has_second_slot = random.below(2) == 0;
  if (has_second_slot) slots.push_back(random.below(scenario.geometry.table_entries));
  const std::uint64_t count = 1 + random.below(most_drawn_attacks);
  for (std::uint64_t index = 0; index < count; ++index) {
    PlannedAttack attack;
    attack.kind = static_cast<AttackKind>(random.below(kinds));
    attack.slot = slots[random.below(slots.size())];
    attack.number = draw_number(random);
    if (random.below(2) == 0) {
      attack.pause_ns = scenario.simulation.step_duration_ns << random.below(10);
    }
    scenario.attacks.push_back(attack);
  }
}

}  // namespace falafel::store_scenario
