#include "tools/scenarios/store/trick_worlds.h"

#include <array>

namespace falafel::store_scenario {

void add_tricks(fabric::RandomGenerator& random, Scenario& scenario) {
  constexpr std::array kinds{AttackKind::evasion, AttackKind::stolen_release,
                             AttackKind::late_write, AttackKind::broken_chain,
                             AttackKind::shared_container};
  constexpr std::uint64_t most_tricks = 4;
  scenario.attacks.clear();
  const std::uint64_t count = 1 + random.below(most_tricks);
  for (std::uint64_t index = 0; index < count; ++index) {
    PlannedAttack attack;
    attack.kind = kinds.at(random.below(kinds.size()));
    attack.slot = random.below(scenario.geometry.table_entries);
    attack.number = random.next();
    if (random.below(2) == 0) {
      attack.pause_ns = scenario.simulation.step_duration_ns << random.below(10);
    }
    scenario.attacks.push_back(attack);
  }
  constexpr std::uint64_t worlds_per_use_of_all_credits = 4;
  if (random.below(worlds_per_use_of_all_credits) == 0) {
    scenario.attacks.insert(scenario.attacks.begin(), {.kind = AttackKind::all_credits});
  }
}

}  // namespace falafel::store_scenario
