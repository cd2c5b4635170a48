#include "engine/server/collector.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/layout/expiry.h"
#include "engine/layout/key_hash.h"
#include "engine/layout/references.h"
#include "engine/probes.h"
#include "engine/server/region_scan.h"
#include "engine/server/value_ages.h"

namespace falafel::engine {
namespace {

// While an entry points into collected memory, a correct client changes it at most once: a DELETE
// sets its flag. An entry that changes more often is not written by a client of this engine.
constexpr std::uint32_t most_lost_updates = 16;

}  // namespace

Collector::Collector(fabric::Host& host, const Chunk& chunk, const ServerOptions& options,
                     EntryUpdater& updater, MemoryBook& book, ServerStatistics& statistics)
    : host_(host),
      chunk_(chunk),
      options_(options),
      safeguards_(options.safeguards),
      updater_(updater),
      book_(book),
      statistics_(statistics),
      pace_(host) {}

void Collector::move_regions(const std::vector<std::uint32_t>& regions) {
  std::vector<ByteRange> ranges;
  ranges.reserve(regions.size());
  for (const std::uint32_t region : regions) {
    const std::uint64_t begin = chunk_.geometry.region_offset(region);
    ranges.push_back({.begin = begin, .end = begin + chunk_.geometry.region_bytes});
  }
  if (!chunk_.geometry.has_blocks()) return move_all(ByteRanges(std::move(ranges)));
  for (const ByteRange& range : ranges) {
    settle();
    move_all(ByteRanges({range}));
  }
}

void Collector::move_mature_space(std::uint32_t space) {
  ByteRanges source({used_range(space)});
  book_.mature().begin_collection(space);
  move_all(std::move(source));
}

ByteRange Collector::used_range(std::uint32_t space) const {
  const std::uint64_t begin = chunk_.geometry.mature_offset(space);
  return {.begin = begin, .end = begin + book_.mature()[space].used_bytes};
}

void Collector::collect_former(const ByteRange& source) {
  move_all(ByteRanges({source}), book_.mature().rest_bytes());
  settle();
}

void Collector::move_all(ByteRanges source, std::uint64_t most_bytes) {
  Task& task = task_.emplace(Task{.source = std::move(source), .room_bytes = {}});
  for (const ByteRange& range : task.source.all()) {
    task.room_bytes.push_back(std::min(range.end - range.begin, most_bytes));
  }
  const Visit visit = [&](std::uint64_t slot, Entry entry) { move(slot, entry, task); };
  if (scan_memory(task.source, visit)) return;
  // The walk finds what the scan has not moved. It must not find entries whose update is still in
  // flight.
  settle_all(task);
  walk_table(task.source, visit);
}

void Collector::settle() {
  if (!task_) return;
  settle_all(*task_);
  task_.reset();
}

void Collector::settle_all(const Task& task) {
  while (const auto outcome = updater_.next()) settle(*outcome, task);
}

// Finding live containers

bool Collector::points_into(const ByteRanges& source, Entry entry) const {
  return !entry.is_empty() && source.contain(chunk_.geometry.to_offset(entry.reference()));
}

// Returns false if the walk has to find them: because it is configured, or because the scan would
// take longer.
bool Collector::scan_memory(const ByteRanges& source, const Visit& visit) {
  if (options_.collection != Collection::scan_memory) return false;
  for (const ByteRange& range : source.all()) {
    RegionScan scan(chunk_, pace_, range, statistics_.entries_shifted);
    while (const auto live = scan.next()) visit(live->slot, live->entry);
    if (!scan.has_given_up()) continue;
    ++statistics_.scans_given_up;
    return false;
  }
  return true;
}

// The walk finds every entry that points into the source when it passes. No such entry can appear
// in a slot that it has passed, because clients publish containers only in regions that they hold.
void Collector::walk_table(const ByteRanges& source, const Visit& visit) {
  for (std::uint64_t slot = chunk_.first_slot_in_use(); slot < chunk_.end_of_slots_in_use();
       ++slot) {
    pace_.step(1);
    const Entry entry = chunk_.load_entry(slot);
    if (points_into(source, entry)) visit(slot, entry);
  }
}

// A scan meets each container once, wherever its entry moves. A walk over the table could meet an
// entry before and after it moves, or miss it, so nobody may move any until the walk is over.
std::vector<LiveSpace> Collector::measure_mature_spaces(FiberMutex& moving) {
  std::vector<LiveSpace> spaces = unmeasured_spaces();
  const Visit visit = [&](std::uint64_t, Entry entry) {
    const std::uint64_t offset = chunk_.geometry.to_offset(entry.reference());
    spaces[*chunk_.geometry.mature_space_at(offset)].add(kept_bytes(entry));
  };
  if (scan_memory(used_ranges(spaces), visit)) return spaces;
  const auto nobody_moves = lock_if(safeguards_.exclusion, moving);
  spaces = unmeasured_spaces();
  walk_table(used_ranges(spaces), visit);
  return spaces;
}

std::vector<LiveSpace> Collector::unmeasured_spaces() const {
  std::vector<LiveSpace> spaces(chunk_.geometry.mature_space_count);
  for (std::uint32_t space = 0; space < spaces.size(); ++space) {
    spaces[space].used_bytes = book_.mature()[space].used_bytes;
  }
  return spaces;
}

ByteRanges Collector::used_ranges(const std::vector<LiveSpace>& spaces) const {
  std::vector<ByteRange> ranges;
  for (std::uint32_t space = 0; space < spaces.size(); ++space) {
    if (spaces[space].used_bytes > 0) ranges.push_back(used_range(space));
  }
  return ByteRanges(std::move(ranges));
}

// The bytes of its container that copy() keeps.
std::uint64_t Collector::kept_bytes(Entry entry) const {
  const auto header = chunk_.read_header(chunk_.geometry.to_offset(entry.reference()));
  if (!header) return 0;
  const bool keeps_value = !entry.is_deleted() && !has_expired(entry, *header);
  return chunk_.geometry.round_up_to_unit(keeps_value ? header->container_bytes()
                                                      : header->key_end());
}

// Returns whether the value in the entry's container has expired.
bool Collector::has_expired(Entry entry, const ContainerHeader& header) const {
  if (!chunk_.geometry.values_expire) return false;
  std::array<std::byte, expiry_bytes> expiry{};
  const std::span<std::byte> start =
      std::span(expiry).first(std::min<std::size_t>(header.value_bytes, expiry.size()));
  chunk_.block->read(chunk_.geometry.to_offset(entry.reference()) + header.key_end(), start);
  return is_expired(start, host_.wall_clock_ns());
}

// Moving live containers

void Collector::move(std::uint64_t slot, Entry entry, Task& task) {
  // If collection and cleanup exclude each other, nobody holds this lock, so the update removes it.
  // Otherwise it is the cleanup's.
  if (entry.is_locked() && !safeguards_.exclusion) return;
  if (entry.is_locked()) ++statistics_.entries_repaired;
  if (entry.is_deleted()) host_.count(probes::collector_met_deleted);
  const EntryUpdate update{.slot = slot, .expected = entry, .desired = with_tag(copy(entry, task))};
  if (options_.kept_memory) return submit_in_order(update, task);
  submit(update, task);
}

Entry Collector::with_tag(Entry moved) const {
  return safeguards_.tag_discipline ? moved.with_next_tag(chunk_.geometry.tag_bits) : moved;
}

// Returns the entry for the copy. A container that does not verify is lost, and so is one that
// would make the copies longer than their source. Their entries become deleted and point to the
// stand-in, so that a cleanup removes them.
Entry Collector::copy(Entry entry, Task& task) {
  Entry unlocked = entry.without_lock();
  const Entry lost =
      unlocked.moved_to(chunk_.geometry.to_units(Geometry::stand_in_offset())).with_deleted();
  auto source = chunk_.read_container(
      entry, entry.is_deleted() ? Chunk::Part::key : Chunk::Part::key_and_value);
  if (!source) {
    ++statistics_.containers_unreadable;
    return lost;
  }
  if (!entry.is_deleted() && has_expired(entry, source->header)) {
    ++statistics_.values_expired;
    host_.count(probes::collector_met_expired);
    unlocked = unlocked.with_deleted();
    source->value.clear();
  }
  std::vector<std::byte> bytes(container_bytes(source->key.size(), source->value.size()));
  const std::uint64_t length_bytes = chunk_.geometry.round_up_to_unit(bytes.size());
  std::uint64_t& room_bytes =
      task.room_bytes[task.source.index_of(chunk_.geometry.to_offset(entry.reference()))];
  if (length_bytes > room_bytes) {
    ++statistics_.containers_unreadable;
    return lost;
  }
  room_bytes -= length_bytes;
  write_container(source->key, source->value, bytes);
  const std::uint64_t offset = book_.mature().allocate(length_bytes);
  chunk_.write(offset, bytes);
  ++statistics_.containers_copied;
  const std::uint64_t hash = hash_of(source->key, chunk_.hash_key);
  return unlocked.moved_to(References(chunk_.geometry).to(offset, hash, bytes.size()));
}

// The copy is in memory before the update is posted, so a client that sees the new entry also sees
// the container.
void Collector::submit(const EntryUpdate& update, const Task& task) {
  while (updater_.is_full()) settle(*updater_.next(), task);
  updater_.submit(update);
}

// The updates of copies take effect in the order of the copies, also after the connection broke. So
// if the process ends, the copies whose updates are missing are the last ones, and a server that
// starts over the memory uses their place again (memory_recovery.h).
void Collector::submit_in_order(const EntryUpdate& update, const Task& task) {
  while (updater_.is_full() || updater_.has_outcomes_in_doubt()) settle(*updater_.next(), task);
  updater_.submit(update);
}

void Collector::note_age(const EntryUpdate& update) {
  if (chunk_.ages == nullptr) return;
  const std::uint64_t source = chunk_.geometry.to_offset(update.expected.reference());
  if (!chunk_.geometry.mature_space_at(source)) chunk_.ages->on_collected(update.slot);
}

// A client changed the entry first. Either it overwrote the entry, which now points to the client's
// region, or it deleted the entry, which still points to the source. The space of a copy that is
// not needed is not reused (4.2.4).
void Collector::settle(const UpdateOutcome& outcome, const Task& task) {
  if (outcome.succeeded) return note_age(outcome.update);
  ++statistics_.updates_lost;
  host_.count(probes::collector_lost);
  const Entry current = outcome.current;
  if (!safeguards_.collector_retry || !points_into(task.source, current)) return;
  if (current.is_locked() && !safeguards_.exclusion) return;
  // An update that failed because the connection broke did not lose to a client.
  const std::uint32_t lost =
      outcome.update.lost_before + (current == outcome.update.expected ? 0 : 1);
  if (lost >= most_lost_updates) {
    ++statistics_.entries_given_up;
    return;
  }
  host_.count(probes::collector_retried);
  Entry moved = current.without_lock().moved_to(outcome.update.desired.reference());
  if (outcome.update.desired.is_deleted()) moved = moved.with_deleted();
  submit({.slot = outcome.update.slot,
          .expected = current,
          .desired = with_tag(moved),
          .lost_before = lost},
         task);
}

}  // namespace falafel::engine
