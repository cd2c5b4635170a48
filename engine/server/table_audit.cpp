#include "engine/server/table_audit.h"

#include <utility>

#include "engine/probes.h"

namespace falafel::engine {
namespace {

// A repair reads a container and swaps an entry. It counts as this many looks at an entry, and each
// cache line of the key as one more. The longest key counts as a quarter of a piece, so every
// piece progresses.
constexpr std::uint64_t work_of_repair = 16;
constexpr std::uint64_t key_bytes_of_look = 64;

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
  for (Piece piece(host_); !piece.is_over();) {
    if (!look_at(next_slot_, piece)) return false;
    move_to(next_slot_ + 1);
    if (next_slot_ < chunk_.end_of_slots_in_use()) continue;
    deleted_entries_ = std::exchange(counted_deleted_, 0);
    occupied_entries_ = std::exchange(counted_occupied_, 0);
    move_to(0);
    return true;
  }
  return false;
}

// The entries of one table do not precede those of the next one in a chain.
void TableAudit::move_to(std::uint64_t slot) {
  next_slot_ = slot;
  if (slot == chunk_.geometry.first_slot(chunk_.geometry.table_of(slot))) occupied_before_ = 0;
}

// Returns false if the piece was over before.
bool TableAudit::look_at(std::uint64_t slot, Piece& piece) {
  piece.add(1);
  const Entry entry = chunk_.load_entry(slot);
  bool is_occupied = !entry.is_empty();
  const std::uint32_t table = chunk_.geometry.table_of(slot);
  if (safeguards_.bounded_walks && is_foreign(table, entry)) {
    if (!repair(slot, entry, piece)) return false;
    is_occupied = !chunk_.load_entry(slot).is_empty();
  }
  if (table == chunk_.tables.last) {
    if (entry.is_deleted()) ++counted_deleted_;
    if (is_occupied) ++counted_occupied_;
  }
  occupied_before_ = is_occupied ? occupied_before_ + 1 : 0;
  return true;
}

bool TableAudit::is_foreign(std::uint32_t table, Entry entry) const {
  if (entry.is_locked()) return true;
  if (table < chunk_.tables.last && entry.is_frozen()) return false;
  // Nothing else is left of a table that is no longer in use.
  if (table < chunk_.tables.first && safeguards_.freeze_empty_slots) {
    return entry != chunk_.stand_in_for(entry);
  }
  if (entry.is_empty()) return entry.is_deleted();
  const std::uint64_t offset = chunk_.geometry.to_offset(entry.reference());
  if (offset == Geometry::stand_in_offset()) return !entry.is_deleted();
  return !book_.is_in_use(offset);
}

// Returns false if the piece was over before.
bool TableAudit::repair(std::uint64_t slot, Entry entry, Piece& piece) {
  piece.add(work_of_repair);
  const Entry unlocked = entry.without_lock();
  const std::uint32_t table = chunk_.geometry.table_of(slot);
  const bool may_stay = entry.is_locked() && !is_foreign(table, unlocked) && !unlocked.is_empty();
  const Place place = may_stay ? place_of(slot, unlocked, piece) : Place::wrong;
  if (place == Place::not_yet_known) return false;
  const Entry repaired = place == Place::right ? unlocked : chunk_.stand_in_for(entry);
  const Entry desired =
      safeguards_.tag_discipline ? repaired.with_next_tag(chunk_.geometry.tag_bits) : repaired;
  if (update_.execute({.slot = slot, .expected = entry, .desired = desired}).succeeded) {
    ++statistics_.entries_repaired;
    host_.count(probes::entry_repaired);
  }
  return true;
}

// Finds out if a search for the key of the container passes this slot. The walk has looked at the
// entries before this one. A client may have inserted a key meanwhile where the walk found an empty
// entry or where it began, so the search continues backward from there.
TableAudit::Place TableAudit::place_of(std::uint64_t slot, Entry entry, Piece& piece) {
  const auto container = reader_.read(entry, Chunk::Part::key);
  if (!container || container->key.empty()) return Place::wrong;
  piece.add(container->key.size() / key_bytes_of_look);
  const std::uint32_t table = chunk_.geometry.table_of(slot);
  const std::uint64_t table_entries = chunk_.geometry.entries_of(table);
  const std::uint64_t table_begin = chunk_.geometry.first_slot(table);
  const std::uint64_t index = slot - table_begin;
  const std::uint64_t home = home_slot(container->key, chunk_.hash_key, table_entries);
  const std::uint64_t distance = (index + table_entries - home) % table_entries;
  for (; occupied_before_ < distance; ++occupied_before_) {
    if (piece.is_over()) return Place::not_yet_known;
    piece.add(1);
    const std::uint64_t before = (index + table_entries - occupied_before_ - 1) % table_entries;
    if (chunk_.load_entry(table_begin + before).is_empty()) return Place::wrong;
  }
  return Place::right;
}

}  // namespace falafel::engine
