#include "tools/scenarios/store/special_worlds.h"

#include <algorithm>

#include "engine/layout/entry.h"
#include "fabric/random.h"
#include "tools/scenarios/store/cache_worlds.h"
#include "tools/scenarios/store/end_worlds.h"
#include "tools/scenarios/store/growth_worlds.h"
#include "tools/scenarios/store/hostile_worlds.h"
#include "tools/scenarios/store/memory_growth_worlds.h"
#include "tools/scenarios/store/move_worlds.h"
#include "tools/scenarios/store/scan_worlds.h"
#include "tools/scenarios/store/set_many_worlds.h"
#include "tools/scenarios/store/tag_world.h"
#include "tools/scenarios/store/trick_worlds.h"
#include "tools/scenarios/store/update_worlds.h"
#include "tools/scenarios/store/warm_restarts.h"

namespace falafel::store_scenario {
namespace {

// Distinguish the random numbers of each kind.
constexpr std::uint64_t hostile_stream = 0x686f7374696c6521;
constexpr std::uint64_t tag_world_stream = 0x7461677320776f72;
constexpr std::uint64_t cache_stream = 0x7468652063616368;
constexpr std::uint64_t pin_stream = 0x70696e7320696e20;
constexpr std::uint64_t warm_restart_stream = 0x7761726d20737461;
constexpr std::uint64_t growth_stream = 0x67726f7774682074;
constexpr std::uint64_t memory_growth_stream = 0x6d656d6f72792067;
constexpr std::uint64_t scan_stream = 0x7363616e206b6579;
constexpr std::uint64_t update_stream = 0x7570646174652076;
constexpr std::uint64_t heard_close_stream = 0x6865617220636c6f;
constexpr std::uint64_t set_many_stream = 0x7365745f6d616e79;
constexpr std::uint64_t end_stream = 0x656e64206f66206f;
constexpr std::uint64_t trick_stream = 0x747269636b732121;
constexpr std::uint64_t move_stream = 0x6d6f766573206f66;

}  // namespace

// Safeguards are ablated for honest clients: a violation that needs a hostile one says nothing
// about that.
void SpecialWorlds::draw_hostile_client(Scenario& scenario) const {
  constexpr std::uint64_t worlds_per_hostile_world = 8;
  const bool is_hardened = choices_.safeguards == engine::Safeguards::hardened();
  if (choices_.hostile == Share::none) return;
  if (choices_.hostile == Share::some && !is_hardened) return;
  fabric::RandomGenerator random(seed_ ^ hostile_stream);
  const bool is_one = random.below(worlds_per_hostile_world) == 0;
  if (is_one || choices_.hostile == Share::only) add_hostile_client(random, scenario);
}

void SpecialWorlds::draw_tag_world(Scenario& scenario) const {
  constexpr std::uint64_t worlds_per_tag_world = 64;
  const bool is_fixed = choices_.clients || choices_.operations || choices_.in_flight ||
                        choices_.slots || choices_.keys || choices_.location_cache_entries ||
                        !choices_.workload.empty() || choices_.strategy || choices_.faults ||
                        !choices_.simulator_options.empty();
  if (is_fixed || choices_.tag_worlds == Share::none) return;
  fabric::RandomGenerator random(seed_ ^ tag_world_stream);
  const bool is_one = random.below(worlds_per_tag_world) == 0;
  if (is_one || choices_.tag_worlds == Share::only) make_tag_world(random, scenario);
}

// Half of the worlds with `some`. Worlds in which tags wrap around are none.
void SpecialWorlds::draw_cache(Scenario& scenario) const {
  const Share share = choices_.safeguards.expired_removal ? choices_.caches : Share::only;
  if (share == Share::none || scenario.geometry.tag_bits != engine::most_tag_bits) return;
  fabric::RandomGenerator random(seed_ ^ cache_stream);
  const bool is_one = random.below(2) == 0;
  if (!is_one && share != Share::only) return;
  make_cache(random, scenario);
  fabric::RandomGenerator of_pins(seed_ ^ pin_stream);
  pin_values(of_pins, scenario);
}

// Half of the worlds with `some`. The cleanup of the thesis leaves what no server repairs.
void SpecialWorlds::draw_warm_restarts(Scenario& scenario) const {
  if (choices_.warm_restarts == Share::none || !choices_.safeguards.bounded_walks) return;
  const bool may_restart =
      !choices_.faults ||
      std::ranges::find(*choices_.faults, sim::FaultKind::server_restart) != choices_.faults->end();
  fabric::RandomGenerator random(seed_ ^ warm_restart_stream);
  const bool is_one = random.below(2) == 0;
  if (!may_restart || (!is_one && choices_.warm_restarts == Share::some)) return;
  restart_warm(random, scenario);
}

// Half of the worlds with `some`, except those of the thesis, whose table does not grow. Hostile
// worlds and those in which tags wrap around are among them only if there are no others.
void SpecialWorlds::draw_growth(Scenario& scenario) const {
  const bool needs_growth =
      !choices_.safeguards.freeze_empty_slots || !choices_.safeguards.lock_before_move;
  const Share share = needs_growth ? Share::only : choices_.growth;
  const bool wraps = scenario.geometry.tag_bits != engine::most_tag_bits;
  const bool may_grow = choices_.safeguards.bounded_walks &&
                        (scenario.attacks.empty() || choices_.hostile == Share::only) &&
                        (!wraps || choices_.tag_worlds == Share::only);
  if (share == Share::none || !may_grow) return;
  fabric::RandomGenerator random(seed_ ^ growth_stream);
  if (random.below(2) != 0 && share != Share::only) return;
  wraps ? let_table_of_tag_world_grow(random, scenario) : make_table_grow(random, scenario);
}

// Half of the worlds with `some`, except those of the thesis, which have no blocks. Worlds in which
// tags wrap around are among them only if there are no others.
void SpecialWorlds::draw_memory_growth(Scenario& scenario) const {
  const Share share = choices_.memory_growth;
  const bool wraps = scenario.geometry.tag_bits != engine::most_tag_bits;
  if (share == Share::none || (wraps && choices_.tag_worlds != Share::only)) return;
  if (choices_.safeguards == engine::Safeguards::published()) return;
  fabric::RandomGenerator random(seed_ ^ memory_growth_stream);
  if (random.below(2) == 0 || share == Share::only) make_memory_grow(random, scenario);
}

// Half of the worlds with `some`. A scan requires the hardened protocol.
void SpecialWorlds::draw_scans(Scenario& scenario) const {
  const bool is_hardened = choices_.safeguards == engine::Safeguards::hardened();
  if (choices_.scans == Share::none || !is_hardened) return;
  fabric::RandomGenerator random(seed_ ^ scan_stream);
  const bool is_one = random.below(2) == 0;
  if (is_one || choices_.scans == Share::only) add_scans(random, scenario);
}

// Half of the worlds with `some`, except those that scan and caches, in which others judge. The
// thesis has no such operation.
void SpecialWorlds::draw_updates(Scenario& scenario) const {
  const bool has_judge = choices_.scans == Share::none && !scenario.geometry.values_expire;
  const bool is_published = choices_.safeguards == engine::Safeguards::published();
  if (choices_.updates == Share::none || !has_judge || is_published) return;
  fabric::RandomGenerator random(seed_ ^ update_stream);
  const bool is_one = random.below(2) == 0;
  if (is_one || choices_.updates == Share::only) add_updates(random, scenario);
}

// Half of the worlds with `some`.
void SpecialWorlds::draw_heard_closes(Scenario& scenario) const {
  if (choices_.heard_closes == Share::none) return;
  fabric::RandomGenerator random(seed_ ^ heard_close_stream);
  const bool is_one = random.below(2) == 0;
  scenario.clients_hear_close = is_one || choices_.heard_closes == Share::only;
}

// Half of the worlds with `some`, except those in which tags wrap around, whose pace is fixed.
void SpecialWorlds::draw_set_many(Scenario& scenario) const {
  const bool is_hardened = choices_.safeguards == engine::Safeguards::hardened();
  const bool wraps = scenario.geometry.tag_bits != engine::most_tag_bits;
  if (choices_.set_many == Share::none || !is_hardened || wraps) return;
  fabric::RandomGenerator random(seed_ ^ set_many_stream);
  const bool is_one = random.below(2) == 0;
  if (is_one || choices_.set_many == Share::only) add_set_many(random, scenario);
}

// Half of the worlds with `some`, except those in which tags wrap around, whose pace is fixed.
void SpecialWorlds::draw_ends(Scenario& scenario) const {
  const bool is_hardened = choices_.safeguards == engine::Safeguards::hardened();
  const bool wraps = scenario.geometry.tag_bits != engine::most_tag_bits;
  if (choices_.ends == Share::none || !is_hardened || wraps) return;
  fabric::RandomGenerator random(seed_ ^ end_stream);
  const bool is_one = random.below(2) == 0;
  if (is_one || choices_.ends == Share::only) add_ends(random, scenario);
}

// Half of the worlds with `some`, except those in which tags wrap around.
void SpecialWorlds::draw_tricks(Scenario& scenario) const {
  const bool is_hardened = choices_.safeguards == engine::Safeguards::hardened();
  const bool wraps = scenario.geometry.tag_bits != engine::most_tag_bits;
  if (choices_.tricks == Share::none || !is_hardened || wraps) return;
  fabric::RandomGenerator random(seed_ ^ trick_stream);
  const bool is_one = random.below(2) == 0;
  if (is_one || choices_.tricks == Share::only) add_tricks(random, scenario);
}

// Half of the worlds with `some`, except those in which tags wrap around. The table grows in them
// only if it does in all worlds.
void SpecialWorlds::draw_moves(Scenario& scenario) const {
  const bool is_hardened = choices_.safeguards == engine::Safeguards::hardened();
  const bool wraps = scenario.geometry.tag_bits != engine::most_tag_bits;
  if (choices_.moves == Share::none || !is_hardened || wraps) return;
  if (scenario.geometry.can_grow() && choices_.growth != Share::only) return;
  fabric::RandomGenerator random(seed_ ^ move_stream);
  const bool is_one = random.below(2) == 0;
  if (scenario.geometry.can_grow()) {
    if (is_one || choices_.moves == Share::only) make_table_grow_beside_searches(random, scenario);
    return;
  }
  const bool may_scan = choices_.scans == Share::only || random.below(2) == 0;
  const bool scans = choices_.scans != Share::none && may_scan;
  if (!is_one && choices_.moves == Share::some) return;
  make_keys_move(random, scans ? MovesBeside::scans : MovesBeside::searches, scenario);
}

}  // namespace falafel::store_scenario
