#include "engine/server/table_recovery.h"

#include "engine/layout/status_line.h"
#include "engine/probes.h"

namespace falafel::engine {

TableRecovery::TableRecovery(fabric::Host& host, const Chunk& chunk, const ServerOptions& options)
    : host_(host), chunk_(chunk), safeguards_(options.safeguards), pace_(host) {}

// All locks go before any deleted key: the entry that shows that a locked one has moved may have
// been deleted since.
std::uint64_t TableRecovery::run() {
  remove_locks();
  const std::uint64_t rebindings = end_rebinding();
  forget_deleted_keys();
  return rebindings;
}

void TableRecovery::remove_locks() {
  for (std::uint64_t slot = 0; slot < chunk_.geometry.table_entries; ++slot) {
    pace_.step(1);
    const Entry entry = chunk_.load_entry(slot);
    if (entry.is_locked()) replace(slot, without_lock(slot, entry));
  }
}

void TableRecovery::forget_deleted_keys() {
  for (std::uint64_t slot = 0; slot < chunk_.geometry.table_entries; ++slot) {
    pace_.step(1);
    const Entry entry = chunk_.load_entry(slot);
    if (entry.is_empty() || !entry.is_deleted()) continue;
    const Entry without_key = chunk_.stand_in_for(entry);
    if (entry != without_key) replace(slot, without_key);
  }
}

// The counter is never again what it was during the removal.
std::uint64_t TableRecovery::end_rebinding() {
  const std::uint64_t found = chunk_.block->load(rebindings_offset);
  const std::uint64_t even = found + (found & 1);
  if (even != found) chunk_.block->store(rebindings_offset, even);
  return even;
}

Entry TableRecovery::without_lock(std::uint64_t slot, Entry locked) {
  host_.count(probes::recovery_met_lock);
  if (locked.is_empty()) return locked.pointing_to(0);
  if (!is_bound_before(slot, locked)) return locked.without_lock();
  host_.count(probes::recovery_met_moved_entry);
  return chunk_.stand_in_for(locked);
}

// Returns whether an earlier slot of the chain has the key. An entry without a key, or one that no
// search reaches, is no entry of a correct client or server, and counts as moved.
bool TableRecovery::is_bound_before(std::uint64_t slot, Entry entry) {
  const auto container = chunk_.read_container(entry, Chunk::Part::key);
  if (!container || container->key.empty()) return true;
  const std::uint64_t table_entries = chunk_.geometry.table_entries;
  std::uint64_t before = home_slot(container->key, chunk_.hash_key, table_entries);
  for (; before != slot; before = (before + 1) % table_entries) {
    pace_.step(1);
    const Entry other = chunk_.load_entry(before);
    if (other.is_empty()) return true;
    const auto found = chunk_.read_container(other, Chunk::Part::key);
    if (found && found->key == container->key) return true;
  }
  return false;
}

void TableRecovery::replace(std::uint64_t slot, Entry next) {
  if (safeguards_.tag_discipline) next = next.with_next_tag(chunk_.geometry.tag_bits);
  chunk_.block->store(chunk_.geometry.entry_offset(slot), next.word());
}

}  // namespace falafel::engine
