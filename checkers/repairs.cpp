#include "checkers/repairs.h"

#include <fmt/format.h>

#include <algorithm>

namespace falafel::checkers {

// Deleted entries without a key share a container.
static bool is_live(engine::Entry entry) { return !entry.is_empty() && !entry.is_deleted(); }

void Repairs::clear() {
  read_.clear();
  locked_by_hostile_.clear();
  locked_.clear();
  moved_.clear();
}

void Repairs::on_changed(std::uint64_t slot, engine::Entry previous, engine::Entry next,
                         Party party, std::uint64_t step) {
  if (party == Party::hostile && next.is_locked()) {
    locked_by_hostile_.insert(slot);
  } else {
    locked_by_hostile_.erase(slot);
  }
  const bool was_moved = moved_.erase(slot) > 0;
  const bool is_unlocked = party == Party::server && is_live(next) && !next.is_locked() &&
                           next.reference() == previous.reference() && !is_filled(slot, next);
  if (was_moved && is_unlocked && judgement_.verdict == Verdict::holds) {
    judgement_ = {.verdict = Verdict::violated,
                  .property = "repair.moved-entry",
                  .explanation = fmt::format(
                      "step {}: the server unlocked the entry in slot {}, although it has moved "
                      "the container of the entry to another slot",
                      step, slot),
                  .slots = {slot},
                  .step = step};
  }
  if (party == Party::server && next.reference() != previous.reference()) note_moves(slot, next);
  locked_.erase(slot);
  if (party == Party::server && next.is_locked() && is_live(next)) {
    locked_[slot] = next.reference();
  }
}

// A hostile client can point two entries to one container, and then the server moves one of them to
// the place of the other.
bool Repairs::is_filled(std::uint64_t slot, engine::Entry next) const {
  return std::ranges::any_of(locked_, [&](const auto& locked) {
    return locked.first != slot && locked.second == next.reference();
  });
}

void Repairs::note_moves(std::uint64_t slot, engine::Entry next) {
  if (!is_live(next)) return;
  for (const auto& [other, reference] : locked_) {
    if (other != slot && reference == next.reference()) moved_.insert(other);
  }
}

bool Repairs::is_repair(std::uint64_t slot, engine::Entry previous, engine::Entry next) const {
  return locked_by_hostile_.contains(slot) && !next.is_locked() && !next.is_empty() &&
         next.reference() == previous.reference();
}

// The party may have had no reason to read an entry that it emptied or filled itself.
void Repairs::on_repaired(std::uint32_t party, std::uint64_t slot, std::uint64_t hash,
                          std::uint64_t step) {
  if (judgement_.verdict != Verdict::holds) return;
  const std::uint32_t table = geometry_.table_of(slot);
  const std::uint64_t first = geometry_.first_slot(table);
  const std::uint64_t entries = geometry_.entries_of(table);
  for (std::uint64_t distance = 0; distance < entries; ++distance) {
    const std::uint64_t walked = first + (hash + distance) % entries;
    if (walked == slot) return;
    const auto read = read_.find({party, walked});
    if (read == read_.end() || !read->second.is_empty()) continue;
    judgement_ = {
        .verdict = Verdict::violated,
        .property = "repair.unreachable",
        .explanation = fmt::format(
            "step {}: the server unlocked the entry in slot {}, although it has read that slot {} "
            "is empty, at which a search for the key of the entry ends",
            step, slot, walked),
        .slots = {slot, walked},
        .step = step};
    return;
  }
}

}  // namespace falafel::checkers
