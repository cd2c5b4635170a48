#include "engine/server/cleanup_by_shift.h"

namespace falafel::engine {
namespace {

constexpr std::uint64_t slots_of_piece = 4'096;
constexpr std::uint64_t removals_of_piece = 4;

}  // namespace

CleanupByShift::CleanupByShift(fabric::Host& host, const Chunk& chunk, const Safeguards& safeguards,
                               EntryUpdater& updater, ContainerReader& reader,
                               RebindingCounter& rebindings, ServerStatistics& statistics)
    : chunk_(chunk),
      statistics_(statistics),
      removal_(host, chunk, safeguards, updater, reader, rebindings, statistics) {}

bool CleanupByShift::clean_piece() {
  if (slots_left_ == 0 || table_ != chunk_.tables.last) begin_pass();
  std::uint64_t removals = 0;
  for (std::uint64_t slots = 0; slots < slots_of_piece && removals < removals_of_piece; ++slots) {
    if (slots_left_ == 0 || removals_left_ == 0) {
      slots_left_ = 0;
      return true;
    }
    // The entry that moved into the slot of the removed entry may itself be deleted.
    if (remove_at(next_slot_)) {
      ++removals;
      --removals_left_;
    } else {
      next_slot_ = before(next_slot_);
      --slots_left_;
    }
  }
  return false;
}

// If there is no empty slot, removing any deleted entry creates one.
void CleanupByShift::begin_pass() {
  ++statistics_.cleanups;
  table_ = chunk_.tables.last;
  slots_left_ = chunk_.last_table_entries();
  removals_left_ = chunk_.last_table_entries();
  const std::uint64_t begin = chunk_.last_table_begin();
  const std::uint64_t end = begin + chunk_.last_table_entries();
  next_slot_ = end - 1;
  const auto find_empty = [this, begin, end] {
    for (std::uint64_t slot = end; slot-- > begin;) {
      if (!chunk_.load_entry(slot).is_empty()) continue;
      next_slot_ = slot;
      return true;
    }
    return false;
  };
  if (find_empty()) return;
  for (std::uint64_t slot = begin; slot < end; ++slot) {
    if (!remove_at(slot)) continue;
    find_empty();
    return;
  }
}

bool CleanupByShift::remove_at(std::uint64_t slot) {
  return chunk_.load_entry(slot).is_deleted() && removal_.remove(slot);
}

std::uint64_t CleanupByShift::before(std::uint64_t slot) const {
  const std::uint64_t begin = chunk_.last_table_begin();
  return slot == begin ? begin + chunk_.last_table_entries() - 1 : slot - 1;
}

}  // namespace falafel::engine
