#include "checkers/repairs.h"

#include <fmt/format.h>

namespace falafel::checkers {

void Repairs::clear() {
  read_.clear();
  locked_by_hostile_.clear();
}

void Repairs::on_changed(std::uint64_t slot, engine::Entry next, bool by_hostile) {
  if (by_hostile && next.is_locked()) {
    locked_by_hostile_.insert(slot);
  } else {
    locked_by_hostile_.erase(slot);
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
