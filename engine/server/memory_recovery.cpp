#include "engine/server/memory_recovery.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "engine/probes.h"

namespace falafel::engine {

MemoryRecovery::MemoryRecovery(fabric::Host& host, const Chunk& chunk, const ServerOptions& options,
                               MemoryBook& book, HeldMemory& held, ServerStatistics& statistics)
    : host_(host),
      chunk_(chunk),
      book_(book),
      held_(held),
      updater_(chunk),
      collector_(host, chunk, options, updater_, book, statistics),
      pace_(host),
      regions_(chunk.geometry.region_count),
      spaces_(chunk.geometry.mature_space_count) {}

bool MemoryRecovery::run() {
  find_data();
  if (!hold_free_blocks()) return false;
  enter_spaces();
  if (!chunk_.geometry.has_blocks()) finish_collection();
  collect_regions();
  if (chunk_.geometry.has_blocks()) free_a_block();
  return true;
}

bool MemoryRecovery::hold_data() {
  if (!held_.grows()) return true;
  for (std::uint64_t slot = chunk_.first_slot_in_use(); slot < chunk_.end_of_slots_in_use();
       ++slot) {
    pace_.step(1);
    const Entry entry = chunk_.load_entry(slot);
    if (!entry.is_empty() && !hold_part_of(entry)) return false;
  }
  return true;
}

bool MemoryRecovery::hold_part_of(Entry entry) {
  const std::uint64_t offset = chunk_.geometry.to_offset(entry.reference());
  if (const auto region = book_.region_at(offset)) return held_.hold_region(*region);
  const auto space = chunk_.geometry.mature_space_at(offset);
  return !space || held_.hold_block(*space);
}

// Each region with data may open a block, and the server begins with an active and a free one.
bool MemoryRecovery::hold_free_blocks() {
  if (!held_.grows()) return true;
  std::uint64_t wanted = 2;
  for (const Data& region : regions_) wanted += region.live > 0 ? 1 : 0;
  std::uint64_t free = 0;
  for (std::uint32_t space = 0; space < space_count(); ++space) {
    if (book_.mature()[space].held && spaces_[space].live == 0) ++free;
  }
  for (; free < wanted && book_.mature().not_held_count() > 0; ++free) {
    if (!held_.hold_another_block()) return false;
  }
  return true;
}

void MemoryRecovery::find_data() {
  for (std::uint64_t slot = chunk_.first_slot_in_use(); slot < chunk_.end_of_slots_in_use();
       ++slot) {
    pace_.step(1);
    const Entry entry = chunk_.load_entry(slot);
    if (!entry.is_empty()) add(entry);
  }
}

// A container that does not verify counts as a header: the entry still points there. Entries that
// point nowhere are the audit's.
void MemoryRecovery::add(Entry entry) {
  const Geometry& geometry = chunk_.geometry;
  const std::uint64_t offset = geometry.to_offset(entry.reference());
  const auto region = book_.region_at(offset);
  const auto space = geometry.mature_space_at(offset);
  if (!region && !space) return;
  const auto header = chunk_.read_header(offset);
  const std::uint64_t length =
      geometry.round_up_to_unit(header ? header->container_bytes() : container_header_bytes);
  if (region) {
    regions_[*region].add(offset - geometry.region_offset(*region), length);
  } else {
    Data& data = spaces_[*space];
    data.add(offset - geometry.mature_offset(*space), length);
    data.end = std::min(data.end, geometry.mature_bytes);
  }
}

void MemoryRecovery::enter_spaces() {
  for (std::uint32_t space = 0; space < space_count(); ++space) {
    book_.mature().restore(space, spaces_[space].end);
  }
  book_.mature().activate(largest_rest());
}

// The direction of the former process has room for both, and for the regions. The other one may
// have it too, and need fewer copies.
void MemoryRecovery::finish_collection() {
  if (spaces_[0].live == 0 || spaces_[1].live == 0) return;
  host_.count(probes::recovery_met_two_spaces);
  std::uint64_t in_regions = 0;
  for (const Data& region : regions_) in_regions += region.live;
  const auto has_room = [&](std::uint32_t target) {
    return spaces_[1 - target].live + in_regions <= rest(target);
  };
  const std::uint32_t cheaper = spaces_[0].live < spaces_[1].live ? 1 : 0;
  const std::uint32_t target = has_room(cheaper) || !has_room(1 - cheaper) ? cheaper : 1 - cheaper;
  collect_space(1 - target, target);
}

// A region goes to the rest of one space, or to an empty block, so at most one block is opened for
// each.
void MemoryRecovery::collect_regions() {
  for (std::uint32_t region = 0; region < regions_.size(); ++region) {
    if (regions_[region].live == 0) continue;
    host_.count(probes::recovery_collected_region);
    const std::uint64_t begin = chunk_.geometry.region_offset(region);
    const ByteRange source{.begin = begin, .end = begin + chunk_.geometry.region_bytes};
    collect_into(source, find_target(regions_[region].live));
  }
}

// Takes the block with the least data that fits into the rest of another one.
void MemoryRecovery::free_a_block() {
  if (book_.mature().free_count() > 0) return;
  const auto has_less = [&](std::uint32_t left, std::uint32_t right) {
    return spaces_[left].live < spaces_[right].live;
  };
  std::vector<std::uint32_t> sources(space_count());
  std::iota(sources.begin(), sources.end(), 0U);
  std::ranges::partial_sort(sources, sources.begin() + 2, has_less);
  std::optional<std::uint32_t> target;
  const auto source_for = [&](std::uint32_t space) { return sources[space == sources[0] ? 1 : 0]; };
  for (std::uint32_t space = 0; space < space_count(); ++space) {
    const std::uint32_t source = source_for(space);
    if (rest(space) < spaces_[source].live) continue;
    if (!target || has_less(source, source_for(*target))) target = space;
  }
  if (!target) return;
  host_.count(probes::recovery_freed_block);
  collect_space(source_for(*target), *target);
}

std::uint32_t MemoryRecovery::find_target(std::uint64_t bytes) const {
  if (!chunk_.geometry.has_blocks()) return book_.mature().active();
  std::optional<std::uint32_t> smallest;
  std::optional<std::uint32_t> free;
  for (std::uint32_t space = 0; space < space_count(); ++space) {
    if (spaces_[space].live == 0) {
      if (!free && book_.mature()[space].held) free = space;
    } else if (rest(space) >= bytes && (!smallest || rest(space) < rest(*smallest))) {
      smallest = space;
    }
  }
  if (smallest) return *smallest;
  return free ? *free : largest_rest();
}

// The space with the largest rest of those that have data, or of all if none has.
std::uint32_t MemoryRecovery::largest_rest() const {
  std::uint32_t largest = 0;
  while (largest + 1 < space_count() && !book_.mature()[largest].held) ++largest;
  for (std::uint32_t space = largest + 1; space < space_count(); ++space) {
    if (!book_.mature()[space].held) continue;
    const bool has_data = spaces_[space].live > 0;
    const bool largest_has_data = spaces_[largest].live > 0;
    if (has_data == largest_has_data ? rest(space) > rest(largest) : has_data) largest = space;
  }
  return largest;
}

void MemoryRecovery::collect_space(std::uint32_t source, std::uint32_t target) {
  const std::uint64_t begin = chunk_.geometry.mature_offset(source);
  collect_into({.begin = begin, .end = begin + spaces_[source].end}, target);
  spaces_[source] = {};
  book_.mature().restore(source, 0);
}

void MemoryRecovery::collect_into(const ByteRange& source, std::uint32_t target) {
  MatureSpaces& mature = book_.mature();
  mature.activate(target);
  const std::uint64_t before = mature[target].used_bytes;
  collector_.collect_former(source);
  spaces_[target].live += mature[target].used_bytes - before;
  spaces_[target].end = mature[target].used_bytes;
}

std::uint64_t MemoryRecovery::rest(std::uint32_t space) const {
  return chunk_.geometry.mature_bytes - book_.mature()[space].used_bytes;
}

}  // namespace falafel::engine
