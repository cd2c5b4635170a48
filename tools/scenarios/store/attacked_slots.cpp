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

bool AttackedSlots::may_have_damaged(std::uint64_t home) const {
  if (is_any_offset_) return true;
  const std::uint64_t entries = occupied_.size();
  for (std::uint64_t behind = 0; behind < entries; ++behind) {
    const std::uint64_t slot = (home + behind) % entries;
    if (!occupied_[slot]) break;
    if (attacked_[slot]) return true;
  }
  for (std::uint64_t before = 0; before < entries; ++before) {
    const std::uint64_t slot = (home + entries - before) % entries;
    if (!occupied_[slot]) break;
    if (attacked_[slot]) return true;
  }
  return false;
}

}  // namespace falafel::store_scenario
