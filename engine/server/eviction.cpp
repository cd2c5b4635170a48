#include "engine/server/eviction.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "engine/layout/expiry.h"
#include "engine/probes.h"
#include "engine/server/value_ages.h"

namespace falafel::engine {
namespace {

// Number of slots to look at before others that move entries get a turn.
constexpr std::uint64_t evicted_slots_of_piece = 1'024;

}  // namespace

Eviction::Eviction(fabric::Host& host, const Chunk& chunk, const ServerOptions& options,
                   const MemoryBook& book, EntryUpdater& updater, ContainerReader& reader,
                   FiberMutex& moving, ServerStatistics& statistics)
    : host_(host),
      chunk_(chunk),
      options_(options),
      book_(book),
      reader_(reader),
      moving_(moving),
      statistics_(statistics),
      update_(updater),
      running_(host),
      accessed_(chunk.geometry.slot_count()) {}

std::uint64_t evicted_part(const ServerOptions& options, std::uint64_t capacity) {
  return std::max<std::uint64_t>(1, capacity / 100 * options.evicted_percent);
}

Eviction::Freed Eviction::free_memory(std::uint64_t bytes) {
  return run({.entries = 0, .bytes = bytes, .only_mature = true});
}

Eviction::Freed Eviction::free_entries(std::uint64_t entries) {
  return run({.entries = entries, .bytes = 0, .only_mature = false});
}

// If all values were accessed, the hand goes around a second time and spares none.
Eviction::Freed Eviction::run(const Goal& goal) {
  const std::lock_guard one_at_a_time(running_);
  Freed freed;
  go_around(goal, Sparing::accessed, freed);
  if (freed.entries == 0) go_around(goal, Sparing::none, freed);
  return freed;
}

void Eviction::go_around(const Goal& goal, Sparing sparing, Freed& freed) {
  std::uint64_t slots_left = chunk_.end_of_slots_in_use() - chunk_.first_slot_in_use();
  const auto is_over = [&] { return slots_left == 0 || goal.is_reached(freed); };
  while (!is_over()) {
    {
      const auto taking_turns = lock_if(options_.safeguards.exclusion, moving_);
      update_.finish();
      for (std::uint64_t slots = 0; slots < evicted_slots_of_piece && !is_over(); ++slots) {
        if (hand_ >= chunk_.end_of_slots_in_use()) hand_ = 0;
        hand_ = std::max(hand_, chunk_.first_slot_in_use());
        visit(hand_, goal, sparing, freed);
        ++hand_;
        --slots_left;
      }
    }
    host_.yield();
  }
}

void Eviction::visit(std::uint64_t slot, const Goal& goal, Sparing sparing, Freed& freed) {
  const Entry entry = chunk_.load_entry(slot);
  if (entry.is_empty() || entry.is_locked()) return;
  if (entry.is_deleted()) {
    freed.met_deleted = true;
    return;
  }
  if (goal.only_mature && !is_mature(entry)) return;
  const bool was_accessed = accessed_[slot];
  accessed_[slot] = false;
  if (was_accessed && sparing == Sparing::accessed) return;
  if (is_pinned_at(entry)) {
    host_.count(probes::value_spared);
    return;
  }
  const std::uint64_t bytes = value_bytes(entry);
  if (!remove(slot, entry)) {
    ++statistics_.updates_lost;
    return;
  }
  ++statistics_.values_evicted;
  if (chunk_.ages != nullptr) {
    statistics_.evicted_ages.record(is_mature(entry) ? chunk_.ages->age_s(slot) : 0);
  }
  host_.count(probes::value_evicted);
  ++freed.entries;
  freed.bytes += bytes;
}

// Returns false if the entry has changed.
bool Eviction::remove(std::uint64_t slot, Entry entry) {
  for (;;) {
    const UpdateOutcome outcome =
        update_.execute({.slot = slot, .expected = entry, .desired = entry.with_deleted()});
    if (outcome.succeeded) return true;
    // If the entry is the same, a broken connection prevented the update.
    if (outcome.current != entry) return false;
  }
}

bool Eviction::is_mature(Entry entry) const {
  return book_.mature().is_in_use(chunk_.geometry.to_offset(entry.reference()));
}

// The processor sees containers in mature spaces as they are. Where it may see an older container
// instead, the device reads the whole one.
bool Eviction::is_pinned_at(Entry entry) {
  if (!is_mature(entry)) {
    const auto container = reader_.read(entry, Chunk::Part::key_and_value);
    return container && is_pinned(container->value);
  }
  const std::uint64_t offset = chunk_.geometry.to_offset(entry.reference());
  const auto header = chunk_.read_header(offset);
  if (!header || header->value_bytes < expiry_bytes) return false;
  std::array<std::byte, expiry_bytes> expiry{};
  chunk_.block->read(offset + header->key_end(), expiry);
  return is_pinned(expiry);
}

// The bytes that a collection does not copy once the entry is deleted. Only the size of containers
// in the mature space is known for certain: the processor may not see others yet.
std::uint64_t Eviction::value_bytes(Entry entry) const {
  if (!is_mature(entry)) return 0;
  const auto header = chunk_.read_header(chunk_.geometry.to_offset(entry.reference()));
  if (!header) return 0;
  return chunk_.geometry.round_up_to_unit(header->container_bytes()) -
         chunk_.geometry.round_up_to_unit(header->key_end());
}

}  // namespace falafel::engine
