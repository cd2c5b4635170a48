#include "tools/scenarios/store/attacked_slots.h"

namespace falafel::store_scenario {

void AttackedSlots::on_changed(std::uint64_t slot, engine::Entry previous, engine::Entry next,
                               bool by_hostile) {
  if (!next.is_empty() || by_hostile) occupied_[slot] = true;
  if (!by_hostile) return;
  is_any_ = true;
  attacked_[slot] = true;
  if (!next.is_empty() && next.reference() != previous.reference()) is_any_offset_ = true;
}

bool AttackedSlots::may_have_damaged(std::uint64_t hash) const {
  if (is_any_offset_) return true;
  for (std::uint32_t table = 0; table < geometry_.most_tables; ++table) {
    if (is_beside_attack(table, hash % geometry_.entries_of(table))) return true;
  }
  return false;
}

bool AttackedSlots::is_beside_attack(std::uint32_t table, std::uint64_t home) const {
  const std::uint64_t first = geometry_.first_slot(table);
  const std::uint64_t entries = geometry_.entries_of(table);
  for (std::uint64_t behind = 0; behind < entries; ++behind) {
    const std::uint64_t slot = first + (home + behind) % entries;
    if (!occupied_[slot]) break;
    if (attacked_[slot]) return true;
  }
  for (std::uint64_t before = 0; before < entries; ++before) {
    const std::uint64_t slot = first + (home + entries - before) % entries;
    if (!occupied_[slot]) break;
    if (attacked_[slot]) return true;
  }
  return false;
}

}  // namespace falafel::store_scenario
