#include "engine/server/table_growth.h"

#include <algorithm>
#include <utility>

#include "engine/layout/key_hash.h"
#include "engine/layout/status_line.h"
#include "engine/probes.h"
#include "engine/server/held_memory.h"
#include "engine/server/value_ages.h"

namespace falafel::engine {
namespace {

constexpr std::uint64_t growth_slots_of_piece = 4'096;
constexpr std::uint64_t growth_changes_of_piece = 64;
// Lost compare-and-swaps on one entry, before the next pass tries again.
constexpr std::uint32_t most_lost_to_growth = 8;

}  // namespace

TableGrowth::TableGrowth(fabric::Host& host, Chunk& chunk, const Safeguards& safeguards,
                         EntryUpdater& updater, ReadKey read_key, const GrowthCounters& counters)
    : host_(host),
      chunk_(chunk),
      safeguards_(safeguards),
      read_key_(std::move(read_key)),
      counters_(counters),
      update_(updater),
      pace_(host),
      next_slot_(chunk.first_slot_in_use()) {}

bool TableGrowth::begin() {
  const Tables next{.first = chunk_.tables.first, .last = chunk_.tables.last + 1};
  if (chunk_.held != nullptr && !chunk_.held->hold_tables(next.last)) return false;
  publish(next);
  ++counters_.tables_begun;
  host_.count(probes::table_growth_began);
  waits_ = false;
  return true;
}

void TableGrowth::publish(Tables tables) {
  chunk_.tables = tables;
  chunk_.block->store(tables_offset, tables.word());
}

void TableGrowth::finish() {
  while (phase_ != Phase::idle) step();
}

void TableGrowth::work_piece() {
  finish();
  if (!is_everything_frozen()) return freeze_piece();
  move_piece();
}

// The first table in use has to be frozen as a whole before an entry of it moves.
bool TableGrowth::is_everything_frozen() const {
  return !safeguards_.freeze_empty_slots || next_frozen_slot_ >= chunk_.last_table_begin();
}

void TableGrowth::freeze_piece() {
  next_frozen_slot_ = std::max(next_frozen_slot_, chunk_.first_slot_in_use());
  std::uint64_t changes = 0;
  for (std::uint64_t slots = 0; slots < growth_slots_of_piece && changes < growth_changes_of_piece;
       ++slots) {
    if (is_everything_frozen()) return;
    pace_.step(1);
    const Entry entry = chunk_.load_entry(next_frozen_slot_);
    if (entry.is_empty() && !entry.is_frozen()) {
      handle(next_frozen_slot_);
      ++changes;
    }
    ++next_frozen_slot_;
  }
}

void TableGrowth::move_piece() {
  const std::uint64_t end = chunk_.geometry.first_slot(chunk_.tables.first + 1);
  std::uint64_t changes = 0;
  for (std::uint64_t slots = 0; slots < growth_slots_of_piece && changes < growth_changes_of_piece;
       ++slots) {
    if (waits_) return;
    if (next_slot_ == end) return end_pass();
    pace_.step(1);
    const Entry entry = chunk_.load_entry(next_slot_);
    if (!entry.is_frozen() && entry != chunk_.stand_in_for(entry)) {
      handle(next_slot_);
      ++changes;
    }
    ++next_slot_;
  }
}

// The next pass, after an audit or a cleanup, tries again to move what is left over.
void TableGrowth::end_pass() {
  if (has_left_over_) {
    waits_ = true;
  } else {
    publish({.first = chunk_.tables.first + 1, .last = chunk_.tables.last});
  }
  has_left_over_ = false;
  next_slot_ = chunk_.first_slot_in_use();
}

void TableGrowth::handle(std::uint64_t slot) {
  slot_ = slot;
  lost_ = 0;
  phase_ = Phase::examining;
  while (phase_ != Phase::idle) step();
}

void TableGrowth::step() {
  switch (phase_) {
    case Phase::idle: return;
    case Phase::examining: return examine();
    case Phase::freezing: return freeze();
    case Phase::dropping: return drop();
    case Phase::locking: return lock();
    case Phase::searching: return search();
    case Phase::placing: return place();
    case Phase::leaving: return leave();
    case Phase::unlocking: return unlock();
  }
}

// Nobody else locks entries now, so a lock is foreign, and the audit's.
void TableGrowth::examine() {
  entry_ = chunk_.load_entry(slot_);
  if (entry_.is_locked() || lost_ == most_lost_to_growth) return leave_over();
  if (entry_.is_empty()) {
    phase_ = entry_.is_frozen() || !safeguards_.freeze_empty_slots ? Phase::idle : Phase::freezing;
    return;
  }
  if (!is_everything_frozen()) {
    phase_ = Phase::idle;
    return;
  }
  if (entry_.is_deleted()) {
    phase_ = entry_ == chunk_.stand_in_for(entry_) ? Phase::idle : Phase::dropping;
    return;
  }
  const auto key = read_key_(entry_);
  if (!key) {
    phase_ = Phase::dropping;
    return;
  }
  chain_.emplace(chunk_, hash_of(*key, chunk_.hash_key), chunk_.tables.first + 1);
  phase_ = safeguards_.lock_before_move ? Phase::locking : Phase::searching;
}

void TableGrowth::leave_over() {
  has_left_over_ = true;
  phase_ = Phase::idle;
}

void TableGrowth::freeze() {
  if (!update(slot_, entry_, successor(entry_.frozen()))) ++lost_;
  phase_ = Phase::examining;
}

void TableGrowth::drop() {
  if (update(slot_, entry_, successor(chunk_.stand_in_for(entry_)))) {
    if (!entry_.is_deleted()) ++counters_.containers_unreadable;
  } else {
    ++lost_;
  }
  phase_ = Phase::examining;
}

void TableGrowth::lock() {
  if (update(slot_, entry_, entry_.with_locked())) {
    phase_ = Phase::searching;
    return;
  }
  ++lost_;
  phase_ = Phase::examining;
}

// Finds the end of the chain, as a client that inserts the key.
void TableGrowth::search() {
  for (; !chain_->is_over(); chain_->pass(target_)) {
    pace_.step(1);
    target_ = chunk_.load_entry(chain_->slot());
    if (target_.is_empty() && !target_.is_frozen() && !target_.is_locked()) {
      phase_ = Phase::placing;
      return;
    }
  }
  phase_ = Phase::unlocking;
}

void TableGrowth::place() {
  const Entry placed = successor(entry_.with_tag_of(target_));
  phase_ = update(chain_->slot(), target_, placed) ? Phase::leaving : Phase::searching;
}

void TableGrowth::leave() {
  const Entry expected = safeguards_.lock_before_move ? entry_.with_locked() : entry_;
  update(slot_, expected, successor(chunk_.stand_in_for(entry_)));
  ++counters_.entries_moved;
  if (chunk_.ages != nullptr) chunk_.ages->on_moved(slot_, chain_->slot());
  host_.count(probes::entry_moved_to_table);
  phase_ = Phase::examining;
}

// A chain that ends at an empty entry with a flag has room when the audit has repaired that entry.
void TableGrowth::unlock() {
  if (safeguards_.lock_before_move) update(slot_, entry_.with_locked(), successor(entry_));
  leave_over();
  if (target_.is_empty()) return;
  host_.count(probes::table_growth_lacked_room);
  if (may_begin()) {
    begin();
  } else {
    waits_ = true;
  }
}

// Waits, and retries if a broken connection prevented the update. Returns false if the entry
// differs from `expected`.
bool TableGrowth::update(std::uint64_t slot, Entry expected, Entry desired) {
  for (;;) {
    const UpdateOutcome outcome =
        update_.execute({.slot = slot, .expected = expected, .desired = desired});
    if (outcome.succeeded) return true;
    if (outcome.current == expected) continue;
    ++counters_.updates_lost;
    return false;
  }
}

Entry TableGrowth::successor(Entry entry) const {
  return safeguards_.tag_discipline ? entry.with_next_tag(chunk_.geometry.tag_bits) : entry;
}

}  // namespace falafel::engine
