#include "engine/server/entry_removal.h"

#include "engine/probes.h"
#include "engine/server/value_ages.h"

namespace falafel::engine {
namespace {

// Number of entries to examine before other fibers get a turn.
constexpr std::uint64_t looks_at_a_time = 256;

}  // namespace

EntryRemoval::EntryRemoval(fabric::Host& host, const Chunk& chunk, const Safeguards& safeguards,
                           EntryUpdater& updater, ContainerReader& reader,
                           RebindingCounter& rebindings, ServerStatistics& statistics)
    : host_(host),
      chunk_(chunk),
      safeguards_(safeguards),
      reader_(reader),
      rebindings_(rebindings),
      statistics_(statistics),
      update_(updater) {}

bool EntryRemoval::remove(std::uint64_t slot) {
  const Entry entry = chunk_.load_entry(slot);
  if (entry.is_empty() || entry.is_locked() || !entry.is_deleted()) return false;
  rebindings_.begin();
  hole_ = {.slot = slot, .entry = entry};
  moves_ = 0;
  lost_ = 0;
  succeeded_ = false;
  phase_ = Phase::locking_hole;
  return finish();
}

bool EntryRemoval::finish() {
  while (phase_ != Phase::idle) step();
  rebindings_.end();
  return succeeded_;
}

void EntryRemoval::step() {
  switch (phase_) {
    case Phase::idle: return;
    case Phase::locking_hole: return lock_hole();
    case Phase::searching: return search();
    case Phase::dropping: return drop();
    case Phase::locking_next: return lock_next();
    case Phase::filling: return fill();
    case Phase::emptying: return empty();
    case Phase::unlocking_end: return unlock_end();
    case Phase::abandoning: return abandon();
  }
}

void EntryRemoval::lock_hole() {
  Entry current;
  if (update(hole_, hole_.entry, hole_.entry.with_locked(), &current)) return go_on();
  host_.count(probes::cleanup_lock_lost);
  hole_.entry = current;
  const bool is_deleted = !current.is_empty() && current.is_deleted() && !current.is_locked();
  if (!is_deleted || !has_tries_left()) phase_ = Phase::idle;
}

// Continues with the slot behind the hole.
void EntryRemoval::go_on() {
  position_ = behind(hole_.slot);
  if (position_ < hole_.slot) host_.count(probes::cleanup_wrapped);
  lost_ = 0;
  phase_ = Phase::searching;
}

// The search does not need to lock the chain's entries: nobody else changes the key that a slot is
// bound to, and an occupied entry stays occupied.
void EntryRemoval::search() {
  if (++looked_at_ % looks_at_a_time == 0) host_.yield();
  // All slots are occupied, and none has an entry that may move.
  if (position_ == hole_.slot) {
    phase_ = Phase::emptying;
    next_ = hole_;
    return;
  }
  const Entry entry = chunk_.load_entry(position_);
  // Only the cleanup locks entries, so this lock is foreign. The audit handles it.
  if (entry.is_locked()) {
    phase_ = Phase::abandoning;
    return;
  }
  next_ = {.slot = position_, .entry = entry};
  if (entry.is_empty()) {
    phase_ = safeguards_.terminator_lock ? Phase::locking_next : Phase::emptying;
    if (!safeguards_.terminator_lock) next_ = hole_;
    return;
  }
  look_at(position_, entry);
}

void EntryRemoval::look_at(std::uint64_t slot, Entry entry) {
  const auto container = reader_.read(entry, Chunk::Part::key);
  const bool has_key = container && !container->key.empty();
  if (!has_key && !entry.is_deleted()) {
    phase_ = Phase::dropping;
    return;
  }
  const bool may_move =
      has_key && distance(home_of(container->key), slot) >= distance(hole_.slot, slot);
  if (may_move) {
    phase_ = Phase::locking_next;
  } else {
    position_ = behind(position_);
    lost_ = 0;
  }
}

void EntryRemoval::drop() {
  if (update(next_, next_.entry, successor(chunk_.stand_in_for(next_.entry)))) {
    ++statistics_.containers_unreadable;
  } else if (!has_tries_left()) {
    phase_ = Phase::abandoning;
    return;
  }
  phase_ = Phase::searching;
}

void EntryRemoval::lock_next() {
  if (update(next_, next_.entry, next_.entry.with_locked())) {
    phase_ = next_.entry.is_empty() ? Phase::emptying : Phase::filling;
    return;
  }
  host_.count(probes::cleanup_lock_lost);
  phase_ = has_tries_left() ? Phase::searching : Phase::abandoning;
}

// The update of a locked entry is complete regardless of what it finds. If the entry has changed,
// either the update happened before the connection broke and a client changed the entry afterwards,
// or a client ignored the lock.
void EntryRemoval::fill() {
  update(hole_, hole_.entry.with_locked(), successor(next_.entry.with_tag_of(hole_.entry)));
  host_.count(probes::cleanup_moved_entry);
  ++statistics_.entries_shifted;
  if (chunk_.ages != nullptr) chunk_.ages->on_moved(next_.slot, hole_.slot);
  hole_ = next_;
  go_on();
  // Correct entries move towards their home slots, so they cannot circle forever.
  if (++moves_ > chunk_.last_table_entries()) phase_ = Phase::abandoning;
}

void EntryRemoval::empty() {
  update(hole_, hole_.entry.with_locked(), successor(hole_.entry.pointing_to(0)));
  ++statistics_.entries_cleaned;
  succeeded_ = true;
  phase_ = next_.slot == hole_.slot ? Phase::idle : Phase::unlocking_end;
}

void EntryRemoval::unlock_end() {
  update(next_, next_.entry.with_locked(), successor(next_.entry.pointing_to(0)));
  phase_ = Phase::idle;
}

// The entry that moved last may be live, so its old slot must no longer point to its container.
void EntryRemoval::abandon() {
  update(hole_, hole_.entry.with_locked(), successor(chunk_.stand_in_for(hole_.entry)));
  phase_ = Phase::idle;
}

bool EntryRemoval::update(const Place& place, Entry expected, Entry desired, Entry* current) {
  for (;;) {
    const UpdateOutcome outcome =
        update_.execute({.slot = place.slot, .expected = expected, .desired = desired});
    if (outcome.succeeded) return true;
    if (outcome.current == expected) continue;
    ++statistics_.updates_lost;
    if (current != nullptr) *current = outcome.current;
    return false;
  }
}

Entry EntryRemoval::successor(Entry entry) const {
  return safeguards_.tag_discipline ? entry.with_next_tag(chunk_.geometry.tag_bits) : entry;
}

std::uint64_t EntryRemoval::behind(std::uint64_t slot) const {
  const std::uint64_t begin = chunk_.last_table_begin();
  return begin + (slot - begin + 1) % chunk_.last_table_entries();
}

std::uint64_t EntryRemoval::distance(std::uint64_t from, std::uint64_t to) const {
  return (to + chunk_.last_table_entries() - from) % chunk_.last_table_entries();
}

std::uint64_t EntryRemoval::home_of(std::span<const std::byte> key) const {
  return chunk_.last_table_begin() + home_slot(key, chunk_.hash_key, chunk_.last_table_entries());
}

}  // namespace falafel::engine
