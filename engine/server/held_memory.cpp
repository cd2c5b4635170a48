#include "engine/server/held_memory.h"

#include <utility>

#include "engine/layout/entry.h"

namespace falafel::engine {

std::uint64_t end_of_fixed_part(const Geometry& geometry) { return geometry.region_offset(0); }

HeldMemory::HeldMemory(const Geometry& geometry, bool grows,
                       std::shared_ptr<fabric::MemoryBlock> block, MatureSpaces& mature,
                       std::uint64_t& refusals)
    : geometry_(geometry),
      grows_(grows),
      block_(std::move(block)),
      mature_(mature),
      refusals_(refusals),
      regions_(geometry_.region_count, !grows_),
      tables_(geometry_.most_tables, !grows_),
      held_bytes_(grows_ ? end_of_fixed_part(geometry_) : geometry_.chunk_bytes()) {
  tables_[0] = true;
}

bool HeldMemory::hold(std::uint64_t offset, std::uint64_t length_bytes) {
  if (!block_->commit(offset, length_bytes)) {
    ++refusals_;
    return false;
  }
  held_bytes_ += length_bytes;
  return true;
}

bool HeldMemory::hold_tables(std::uint32_t last) {
  for (std::uint32_t table = 0; table <= last; ++table) {
    if (tables_[table]) continue;
    const std::uint64_t offset = geometry_.entry_offset(geometry_.first_slot(table));
    if (!hold(offset, geometry_.entries_of(table) * entry_bytes)) return false;
    tables_[table] = true;
  }
  return true;
}

bool HeldMemory::hold_region(std::uint32_t region) {
  if (regions_[region]) return true;
  if (!hold(geometry_.region_offset(region), geometry_.region_bytes)) return false;
  regions_[region] = true;
  return true;
}

bool HeldMemory::hold_block(std::uint32_t block) {
  if (mature_[block].held) return true;
  if (!hold(geometry_.mature_offset(block), geometry_.mature_bytes)) return false;
  mature_.set_held(block, true);
  return true;
}

bool HeldMemory::hold_another_block() { return hold_block(mature_.first_not_held()); }

void HeldMemory::release_a_block() {
  const std::uint32_t block = mature_.last_free();
  mature_.set_held(block, false);
  held_bytes_ -= geometry_.mature_bytes;
  block_->release(geometry_.mature_offset(block), geometry_.mature_bytes);
}

bool HeldMemory::holds(std::uint64_t offset, std::uint64_t length_bytes) const {
  if (!grows_) return true;
  const std::uint64_t last = offset + length_bytes - 1;
  if (last < end_of_fixed_part(geometry_)) return true;
  if (last < geometry_.region_offset(geometry_.region_count)) {
    const std::uint64_t begin = geometry_.region_offset(0);
    const std::uint64_t region = (last - begin) / geometry_.region_bytes;
    return offset >= geometry_.region_offset(region) && regions_[region];
  }
  const auto space = geometry_.mature_space_at(last);
  return space && offset >= geometry_.mature_offset(*space) && mature_[*space].held;
}

}  // namespace falafel::engine
