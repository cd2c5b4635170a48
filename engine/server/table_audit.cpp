#include "engine/server/table_audit.h"

#include "engine/probes.h"

namespace falafel::engine {
namespace {

constexpr std::uint64_t audited_slots_of_piece = 4'096;

}  // namespace

TableAudit::TableAudit(fabric::Host& host, const Chunk& chunk, const Safeguards& safeguards,
                       const MemoryBook& book, EntryUpdater& updater, ContainerReader& reader,
                       ServerStatistics& statistics)
    : host_(host),
      chunk_(chunk),
      safeguards_(safeguards),
      book_(book),
      reader_(reader),
      statistics_(statistics),
      update_(updater) {}

bool TableAudit::walk_piece() {
  update_.finish();
  for (std::uint64_t slots = 0; slots < audited_slots_of_piece; ++slots) {
    const Entry entry = chunk_.load_entry(next_slot_);
    if (safeguards_.bounded_walks && is_foreign(entry)) repair(next_slot_, entry);
    if (entry.is_deleted()) ++counted_;
    if (++next_slot_ < chunk_.geometry.table_entries) continue;
    deleted_entries_ = counted_;
    counted_ = 0;
    next_slot_ = 0;
    return true;
  }
  return false;
}

bool TableAudit::is_foreign(Entry entry) const {
  if (entry.is_locked()) return true;
  if (entry.is_empty()) return entry.is_deleted();
  const std::uint64_t offset = chunk_.geometry.to_offset(entry.reference());
  if (offset == Geometry::stand_in_offset()) return !entry.is_deleted();
  return !book_.is_in_use(offset);
}

void TableAudit::repair(std::uint64_t slot, Entry entry) {
  const Entry unlocked = entry.without_lock();
  const bool is_right = entry.is_locked() && !is_foreign(unlocked) && !unlocked.is_empty() &&
                        is_in_place(slot, unlocked);
  const Entry repaired = is_right ? unlocked : chunk_.stand_in_for(entry);
  const Entry desired =
      safeguards_.tag_discipline ? repaired.with_next_tag(chunk_.geometry.tag_bits) : repaired;
  if (!update_.execute({.slot = slot, .expected = entry, .desired = desired}).succeeded) return;
  ++statistics_.entries_repaired;
  host_.count(probes::entry_repaired);
}

// Whether a search for the key of the container passes this slot.
bool TableAudit::is_in_place(std::uint64_t slot, Entry entry) {
  const auto container = reader_.read(entry, Chunk::Part::key);
  if (!container || container->key.empty()) return false;
  const std::uint64_t table_entries = chunk_.geometry.table_entries;
  for (std::uint64_t on_the_way = home_slot(container->key, chunk_.hash_key, table_entries);
       on_the_way != slot; on_the_way = (on_the_way + 1) % table_entries) {
    if (chunk_.load_entry(on_the_way).is_empty()) return false;
  }
  return true;
}

}  // namespace falafel::engine
