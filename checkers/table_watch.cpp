#include "checkers/table_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkers/history.h"
#include "engine/layout/container.h"
#include "engine/layout/expiry.h"
#include "engine/layout/key_hash.h"

namespace falafel::checkers {

using engine::Entry;

void TableWatch::clear() {
  slots_.assign(slots_.size(), {});
  counts_.assign(counts_.size(), {});
  last_table_ = 0;
  locked_ = 0;
  live_mature_bytes_ = 0;
  evictable_values_ = 0;
}

void TableWatch::on_changed(std::uint64_t slot, Entry next, const MemoryView& view,
                            std::uint64_t step) {
  note_last_table(view);
  const Slot previous = slots_[slot];
  Slot& changed = slots_[slot];
  changed.entry = next;
  const bool is_same_container = next.reference() == previous.entry.reference();
  const bool is_readable = is_same_container || read_key(changed, view);
  count(slot, previous, view.geometry, Counting::out);
  count(slot, changed, view.geometry, Counting::in);
  const bool was_deleted = previous.entry.is_deleted() && !previous.entry.is_empty();
  if (was_deleted && !next.is_deleted() && !next.is_empty()) ++revived_;
  if (judgement_.verdict != Verdict::holds) return;
  if (is_readable) return judge(slot, previous, view, step);
  violate_unreadable(slot, view, step);
}

void TableWatch::note_last_table(const MemoryView& view) {
  counts_.resize(view.geometry.most_tables);
  last_table_ = view.tables().last;
  last_entries_ = view.geometry.entries_of(last_table_);
}

void TableWatch::adopt(const MemoryView& view, std::uint64_t step) {
  clear();
  note_last_table(view);
  for (std::uint64_t slot = 0; slot < slots_.size(); ++slot) {
    slots_[slot].entry = view.entry(slot);
    const bool is_readable = read_key(slots_[slot], view);
    count(slot, slots_[slot], view.geometry, Counting::in);
    if (!is_readable && judgement_.verdict == Verdict::holds) violate_unreadable(slot, view, step);
  }
  for (std::uint64_t slot = 0; slot < slots_.size(); ++slot) {
    if (judgement_.verdict == Verdict::holds) judge(slot, slots_[slot], view, step);
  }
}

void TableWatch::violate_unreadable(std::uint64_t slot, const MemoryView& view,
                                    std::uint64_t step) {
  violate("unreadable",
          fmt::format("slot {} ({}) does not point to a valid container", slot,
                      describe(slots_[slot].entry, view.geometry)),
          {slot}, step);
}

// A collection keeps only header and key of a deleted entry.
void TableWatch::count(std::uint64_t number, const Slot& slot, const engine::Geometry& geometry,
                       Counting counting) {
  const auto add = [counting](std::uint64_t& sum, std::uint64_t amount) {
    sum = counting == Counting::in ? sum + amount : sum - amount;
  };
  Counts& counts = counts_[geometry.table_of(number)];
  add(counts.occupied, slot.entry.is_empty() ? 0 : 1);
  add(counts.deleted, slot.entry.is_deleted() ? 1 : 0);
  add(locked_, slot.entry.is_locked() ? 1 : 0);
  const std::uint64_t offset = geometry.to_offset(slot.entry.reference());
  if (slot.entry.is_empty() || offset < geometry.mature_offset(0)) return;
  add(live_mature_bytes_, kept_bytes(slot, geometry));
  const bool stays = slot.entry.is_deleted() || slot.entry.is_locked() || slot.is_pinned;
  add(evictable_values_, stays ? 0 : 1);
}

std::uint64_t TableWatch::kept_bytes(const Slot& slot, const engine::Geometry& geometry) {
  return geometry.round_up_to_unit(slot.entry.is_deleted() ? slot.key_end : slot.container_bytes);
}

std::vector<TableWatch::LiveSpace> TableWatch::live_mature_spaces(
    const engine::Geometry& geometry) const {
  std::vector<LiveSpace> spaces(geometry.mature_space_count);
  for (const Slot& slot : slots_) {
    if (slot.entry.is_empty()) continue;
    const auto space = geometry.mature_space_at(geometry.to_offset(slot.entry.reference()));
    if (!space) continue;
    const std::uint64_t bytes = kept_bytes(slot, geometry);
    spaces[*space].bytes += bytes;
    spaces[*space].longest_bytes = std::max(spaces[*space].longest_bytes, bytes);
  }
  return spaces;
}

// Returns false if the entry does not point to a valid container.
bool TableWatch::read_key(Slot& slot, const MemoryView& view) const {
  slot.key.clear();
  if (slot.entry.is_empty()) return true;
  const std::uint64_t offset = view.geometry.to_offset(slot.entry.reference());
  if (!view.geometry.may_hold_container(offset)) return false;
  const auto bytes = view.chunk.first(view.geometry.mature_end()).subspan(offset);
  const auto header = engine::read_container_header(bytes, engine::Verification::on);
  if (!header) return false;
  const auto key = engine::read_container_key(bytes, *header, engine::Verification::on);
  const auto value = engine::read_container_value(bytes, *header, engine::Verification::on);
  if (!key || !value) return false;
  slot.is_pinned = view.geometry.values_expire && engine::is_pinned(*value);
  slot.key_end = header->key_end();
  slot.container_bytes = header->container_bytes();
  slot.key.assign(reinterpret_cast<const char*>(key->data()), key->size());
  slot.hash = engine::hash_of(*key, view.hash_key);
  slot.reference = expected_reference(view.geometry, offset, slot.hash, header->container_bytes());
  return true;
}

std::optional<std::uint64_t> TableWatch::find(std::string_view key) const {
  for (std::uint64_t slot = 0; slot < slots_.size(); ++slot) {
    const Slot& candidate = slots_[slot];
    if (candidate.has_key() && !candidate.entry.is_deleted() && candidate.key == key) return slot;
  }
  return std::nullopt;
}

bool TableWatch::has_entry_of(std::string_view key) const {
  return std::ranges::find(slots_, key, &Slot::key) != slots_.end();
}

std::uint64_t TableWatch::live_container_bytes(std::uint64_t slot,
                                               const engine::Geometry& geometry) const {
  const Slot& bound = slots_[slot];
  const bool is_live = bound.has_key() && !bound.entry.is_empty() && !bound.entry.is_deleted();
  return is_live ? geometry.round_up_to_unit(bound.container_bytes) : 0;
}

void TableWatch::judge(std::uint64_t slot, const Slot& previous, const MemoryView& view,
                       std::uint64_t step) {
  const Slot& changed = slots_[slot];
  if (changed.entry.is_locked()) return;
  if (changed.entry.is_empty()) return judge_empty_slot(slot, view, step);
  if (changed.key.empty()) return;
  if (previous.has_key() && previous.key != changed.key) {
    return violate("rebound-slot",
                   fmt::format("slot {} changes from the key {} to {} without being locked or "
                               "emptied in between",
                               slot, quote(previous.key), quote(changed.key)),
                   {slot}, step);
  }
  if (changed.entry.reference() != changed.reference) {
    return violate("wrong-reference",
                   describe_wrong_reference(slot, changed.entry, changed.reference, view.geometry),
                   {slot}, step);
  }
  judge_bound_slot(slot, view, step);
}

bool TableWatch::is_frozen(std::uint64_t slot, const MemoryView& view) const {
  return slots_[slot].entry.is_frozen() && view.geometry.table_of(slot) < last_table_;
}

// Returns whether a search for a key with this hash reaches `slot` before `end`.
bool TableWatch::is_on_the_way(std::uint64_t slot, std::uint64_t hash, std::uint64_t end,
                               const MemoryView& view) const {
  const std::uint32_t table = view.geometry.table_of(slot);
  const std::uint32_t end_table = view.geometry.table_of(end);
  if (table != end_table) {
    return table >= view.tables().first && table < end_table && is_before_frozen(slot, hash, view);
  }
  const std::uint64_t entries = view.geometry.entries_of(table);
  const std::uint64_t home = view.geometry.first_slot(table) + hash % entries;
  const auto distance = [&](std::uint64_t to) { return (to + entries - home) % entries; };
  return distance(slot) < distance(end);
}

// Returns whether no frozen entry precedes the slot in its table.
bool TableWatch::is_before_frozen(std::uint64_t slot, std::uint64_t hash,
                                  const MemoryView& view) const {
  const std::uint32_t table = view.geometry.table_of(slot);
  const std::uint64_t entries = view.geometry.entries_of(table);
  const std::uint64_t begin = view.geometry.first_slot(table);
  for (std::uint64_t home = hash % entries; begin + home != slot; home = (home + 1) % entries) {
    if (is_frozen(begin + home, view)) return false;
  }
  return true;
}

void TableWatch::judge_bound_slot(std::uint64_t slot, const MemoryView& view, std::uint64_t step) {
  const Slot& changed = slots_[slot];
  for (std::uint64_t other = 0; other < slots_.size(); ++other) {
    const Slot& candidate = slots_[other];
    if (other != slot && candidate.has_key() && candidate.hash == changed.hash &&
        candidate.key == changed.key) {
      return violate(
          "duplicate-key",
          fmt::format("slots {} and {} both have the key {}", other, slot, quote(changed.key)),
          {other, slot}, step);
    }
    const bool ends_searches =
        candidate.entry.is_empty() && !candidate.entry.is_locked() && !is_frozen(other, view);
    if (ends_searches && !changed.entry.is_deleted() &&
        is_on_the_way(other, changed.hash, slot, view)) {
      return violate(
          "unreachable-key",
          fmt::format("slot {} ({}) has the key {}, but a search for it ends at slot "
                      "{}, which is empty",
                      slot, describe(changed.entry, view.geometry), quote(changed.key), other),
          {slot, other}, step);
    }
  }
  judge_tables_before(slot, view, step);
}

// No search goes to a table that is no longer in use, or to a slot behind a frozen one.
void TableWatch::judge_tables_before(std::uint64_t slot, const MemoryView& view,
                                     std::uint64_t step) {
  const Slot& changed = slots_[slot];
  const bool is_in_use = view.geometry.table_of(slot) >= view.tables().first;
  if (changed.entry.is_deleted()) return;
  if (is_in_use && is_before_frozen(slot, changed.hash, view)) return;
  violate("unreachable-key",
          fmt::format("slot {} ({}) has the key {}, but a search for it goes to a later table",
                      slot, describe(changed.entry, view.geometry), quote(changed.key)),
          {slot}, step);
}

void TableWatch::judge_empty_slot(std::uint64_t slot, const MemoryView& view, std::uint64_t step) {
  if (is_frozen(slot, view)) return;
  for (std::uint64_t other = 0; other < slots_.size(); ++other) {
    const Slot& bound = slots_[other];
    if (!bound.has_key() || bound.entry.is_deleted() ||
        !is_on_the_way(slot, bound.hash, other, view)) {
      continue;
    }
    return violate("unreachable-key",
                   fmt::format("slot {} becomes empty, but a search for the key {} in slot {} ({}) "
                               "passes through it",
                               slot, quote(bound.key), other, describe(bound.entry, view.geometry)),
                   {other, slot}, step);
  }
}

void TableWatch::violate(std::string property, std::string explanation,
                         std::vector<std::uint64_t> slots, std::uint64_t step) {
  judgement_ = {.verdict = Verdict::violated,
                .property = "table." + std::move(property),
                .explanation = fmt::format("step {}: {}", step, explanation),
                .slots = std::move(slots),
                .step = step};
}

}  // namespace falafel::checkers
