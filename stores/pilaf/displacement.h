// Finds the slot for a new key, and the keys that make room for it (Pilaf 3.4).
//
// If all slots of the key are taken, one of the keys there moves to another of its own slots, whose
// key moves on, and so forth, until a key finds an empty slot. The whole chain is computed before
// anything moves.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "stores/pilaf/hashing.h"

namespace falafel::pilaf {

// The questions that the planner asks about the table.
struct TableView {
  std::function<bool(std::uint64_t slot)> is_in_use;
  // The slots of the key that is stored in the slot.
  std::function<ProbeSequence(std::uint64_t slot)> slots_of_resident;
};

// The new key goes to the first slot of the chain, the key of each slot to the next one, and the
// last slot is empty. No slot is in the chain twice.
using DisplacementChain = std::vector<std::uint64_t>;

// Nothing if the chain would be longer than `max_kicks` moves, or if it runs into itself: a key
// could only move to slots that the chain has passed. A key moves to its first empty slot, else to
// a random one of those that are left. `random(n)` returns a number below n.
std::optional<DisplacementChain> plan_insertion(
    const ProbeSequence& slots, const TableView& table, std::uint32_t max_kicks,
    const std::function<std::uint64_t(std::uint64_t)>& random);

}  // namespace falafel::pilaf
