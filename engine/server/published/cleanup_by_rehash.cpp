#include "engine/server/published/cleanup_by_rehash.h"

#include <algorithm>

#include "engine/probes.h"

namespace falafel::engine {

CleanupByRehash::CleanupByRehash(fabric::Host& host, const Chunk& chunk,
                                 const Safeguards& safeguards, EntryUpdater& updater,
                                 RebindingCounter& rebindings, ServerStatistics& statistics)
    : host_(host),
      chunk_(chunk),
      safeguards_(safeguards),
      updater_(updater),
      rebindings_(rebindings),
      statistics_(statistics) {}

bool CleanupByRehash::clean_piece() {
  ++statistics_.cleanups;
  for (std::uint64_t slot = 0; slot < chunk_.geometry.table_entries; ++slot) {
    if (chunk_.load_entry(slot).is_deleted()) clean_run(slot);
  }
  return true;
}

void CleanupByRehash::clean_run(std::uint64_t first) {
  Run run = read_run(first);
  rebindings_.begin();
  lock(run);
  unlock(run, rehash(run));
  rebindings_.end();
}

std::uint64_t CleanupByRehash::slot(const Run& run, std::size_t index) const {
  return (run.first + index) % chunk_.geometry.table_entries;
}

// A chain ends at the first empty entry. The terminator lock is the lock of that entry.
bool CleanupByRehash::is_complete(const Run& run) const {
  return run.entries.size() == chunk_.geometry.table_entries ||
         (!run.entries.empty() && run.entries.back().is_empty());
}

void CleanupByRehash::extend(Run& run) const {
  while (!is_complete(run)) {
    run.entries.push_back(chunk_.load_entry(slot(run, run.entries.size())));
  }
}

CleanupByRehash::Run CleanupByRehash::read_run(std::uint64_t first) const {
  Run run{.first = first, .entries = {}};
  extend(run);
  if (slot(run, run.entries.size() - 1) < first) host_.count(probes::cleanup_wrapped);
  return run;
}

void CleanupByRehash::lock(Run& run) {
  std::size_t locked = 0;
  while (locked < run.entries.size()) {
    const std::size_t end = run.entries.size();
    lock_from(run, locked);
    locked = end;
    // A client may have filled the empty entry before it was locked, so the chain continues.
    extend(run);
  }
}

void CleanupByRehash::lock_from(Run& run, std::size_t locked) {
  const auto settle = [&](const UpdateOutcome& outcome) {
    if (outcome.succeeded) return;
    host_.count(probes::cleanup_lock_lost);
    ++statistics_.updates_lost;
    const std::uint64_t table_entries = chunk_.geometry.table_entries;
    const std::uint64_t index = (outcome.update.slot + table_entries - run.first) % table_entries;
    run.entries[index] = outcome.current;
    updater_.submit({.slot = outcome.update.slot,
                     .expected = outcome.current,
                     .desired = outcome.current.with_locked()});
  };
  for (std::size_t index = locked; index < run.entries.size(); ++index) {
    const Entry entry = run.entries[index];
    if (entry.is_empty() && !safeguards_.terminator_lock) continue;
    while (updater_.is_full()) settle(*updater_.next());
    updater_.submit({.slot = slot(run, index), .expected = entry, .desired = entry.with_locked()});
  }
  while (const auto outcome = updater_.next()) settle(*outcome);
}

// The position in the run at which a search for the container's key enters it. If the key's home
// slot is before the run, the search enters at the start of the run, because the slots in between
// are occupied.
std::size_t CleanupByRehash::home_in(const Run& run, const ContainerCopy& container) const {
  const std::uint64_t table_entries = chunk_.geometry.table_entries;
  const std::uint64_t home = home_slot(container.key, chunk_.hash_key, table_entries);
  const std::uint64_t distance = (home + table_entries - run.first) % table_entries;
  return distance < run.entries.size() ? distance : 0;
}

std::vector<Entry> CleanupByRehash::rehash(const Run& run) {
  std::vector<Entry> rehashed(run.entries.size());
  for (std::size_t index = 0; index < run.entries.size(); ++index) {
    const Entry entry = run.entries[index];
    if (entry.is_empty()) continue;
    const auto container = chunk_.read_container(entry, Chunk::Part::key);
    if (!container) ++statistics_.containers_unreadable;
    if (entry.is_deleted()) ++statistics_.entries_cleaned;
    if (entry.is_deleted() || !container) continue;
    std::size_t place = home_in(run, *container);
    while (!rehashed[place].is_empty()) place = (place + 1) % rehashed.size();
    if (place != index) host_.count(probes::cleanup_moved_entry);
    rehashed[place] = entry;
  }
  return rehashed;
}

// Each slot increments its own tag, so no earlier word recurs.
void CleanupByRehash::unlock(const Run& run, const std::vector<Entry>& rehashed) {
  for (std::size_t index = run.entries.size(); index-- > 0;) {
    const Entry old = run.entries[index];
    if (old.is_empty() && !safeguards_.terminator_lock) continue;
    const Entry entry = rehashed[index].with_tag_of(old);
    while (updater_.is_full()) settle_unlock(*updater_.next());
    updater_.submit({.slot = slot(run, index),
                     .expected = old.with_locked(),
                     .desired = safeguards_.tag_discipline
                                    ? entry.with_next_tag(chunk_.geometry.tag_bits)
                                    : entry});
  }
  while (const auto outcome = updater_.next()) settle_unlock(*outcome);
}

// Only the cleanup changes a locked entry. If the entry is unchanged, the update did not happen
// because the connection broke. If it has changed, the update unlocked it and a client changed it
// afterwards.
void CleanupByRehash::settle_unlock(const UpdateOutcome& outcome) {
  if (outcome.succeeded || outcome.current != outcome.update.expected) return;
  updater_.submit(outcome.update);
}

}  // namespace falafel::engine
