#include "engine/server/table_recovery.h"

#include <algorithm>

#include "engine/layout/status_line.h"
#include "engine/probes.h"

namespace falafel::engine {

TableRecovery::TableRecovery(fabric::Host& host, const Chunk& chunk, const ServerOptions& options)
    : host_(host), chunk_(chunk), safeguards_(options.safeguards), pace_(host) {}

// All locks go before any deleted key: the entry that shows that a locked one has moved may have
// been deleted since.
std::uint64_t TableRecovery::run() {
  if (!safeguards_.unlock_before_forgetting) forget_deleted_keys();
  remove_locks();
  const std::uint64_t rebindings = end_rebinding();
  forget_deleted_keys();
  return rebindings;
}

void TableRecovery::remove_locks() {
  for (std::uint64_t slot = chunk_.first_slot_in_use(); slot < chunk_.end_of_slots_in_use();
       ++slot) {
    pace_.step(1);
    const Entry entry = chunk_.load_entry(slot);
    if (entry.is_locked()) replace(slot, without_lock(slot, entry));
  }
}

void TableRecovery::forget_deleted_keys() {
  for (std::uint64_t slot = chunk_.first_slot_in_use(); slot < chunk_.end_of_slots_in_use();
       ++slot) {
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
  if (!safeguards_.moved_entry_removal || !has_moved(slot, locked)) return locked.without_lock();
  host_.count(probes::recovery_met_moved_entry);
  return chunk_.stand_in_for(locked);
}

// Returns whether the key was moved: backward in its chain, or to a later table. An entry without a
// key, or one that no search reaches, is no entry of a correct client or server, and counts as
// moved.
bool TableRecovery::has_moved(std::uint64_t slot, Entry entry) {
  const auto container = chunk_.read_container(entry, Chunk::Part::key);
  if (!container || container->key.empty()) return true;
  const std::uint32_t table = chunk_.geometry.table_of(slot);
  const std::uint64_t hash = hash_of(container->key, chunk_.hash_key);
  Chain chain(chunk_, hash, table);
  for (; chain.slot() != slot; chain.pass(chunk_.load_entry(chain.slot()))) {
    pace_.step(1);
    if (chunk_.load_entry(chain.slot()).is_empty()) return true;
    if (has_key(chain.slot(), container->key)) return true;
  }
  return table < chunk_.tables.last && is_found(Chain(chunk_, hash, table + 1), container->key);
}

bool TableRecovery::is_found(Chain chain, std::span<const std::byte> key) {
  for (; !chain.is_over(); chain.pass(chunk_.load_entry(chain.slot()))) {
    pace_.step(1);
    if (has_key(chain.slot(), key)) return true;
  }
  return false;
}

bool TableRecovery::has_key(std::uint64_t slot, std::span<const std::byte> key) const {
  const auto found = chunk_.read_container(chunk_.load_entry(slot), Chunk::Part::key);
  return found && std::ranges::equal(found->key, key);
}

void TableRecovery::replace(std::uint64_t slot, Entry next) {
  if (safeguards_.tag_discipline) next = next.with_next_tag(chunk_.geometry.tag_bits);
  chunk_.block->store(chunk_.geometry.entry_offset(slot), next.word());
}

}  // namespace falafel::engine
