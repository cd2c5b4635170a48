#include "engine/server/memory_book.h"

#include <algorithm>

#include "fabric/fabric.h"

namespace falafel::engine {

// In regions or blocks. A small memory would have nothing left to grant.
static std::uint64_t reserve_of(const Geometry& geometry) {
  constexpr std::uint64_t share = 32;
  if (!geometry.has_blocks()) return geometry.mature_bytes >= 4 * geometry.region_bytes ? 1 : 0;
  const std::uint64_t blocks = geometry.mature_space_count;
  return blocks >= fewest_blocks + 2 ? (blocks + share - 1) / share + 1 : 0;
}

MemoryBook::MemoryBook(const Geometry& geometry, bool keeps_reserve)
    : geometry_(geometry),
      reserve_(keeps_reserve ? reserve_of(geometry) : 0),
      regions_(geometry.region_count),
      mature_(geometry) {}

std::uint64_t MemoryBook::count(RegionState state) const {
  return static_cast<std::uint64_t>(std::ranges::count(regions_, state, &RegionInspection::state));
}

std::optional<std::uint32_t> MemoryBook::find(RegionState state) const {
  const auto found = std::ranges::find(regions_, state, &RegionInspection::state);
  if (found == regions_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - regions_.begin());
}

// The regions whose content may still have to be copied.
std::uint64_t MemoryBook::promised_regions() const {
  return count(RegionState::granted) + count(RegionState::released) +
         count(RegionState::collecting);
}

bool MemoryBook::has_room_for_grant(bool from_reserve) const {
  if (geometry_.has_blocks()) return mature_.free_count() >= needed_blocks(from_reserve);
  return would_have_room_without(0, from_reserve);
}

bool MemoryBook::would_have_room_without(std::uint64_t garbage_bytes, bool from_reserve) const {
  const std::uint64_t used_bytes = mature_[mature_.active()].used_bytes - garbage_bytes;
  const std::uint64_t regions = promised_regions() + 1 + (from_reserve ? 0 : reserve_);
  return used_bytes + regions * geometry_.region_bytes <= geometry_.mature_bytes;
}

// Free ones: for the regions, and for the collection of a block. The reserve need not be free if it
// is garbage.
std::uint64_t MemoryBook::needed_blocks(bool from_reserve) const {
  const std::uint64_t regions = promised_regions() + 1;
  const std::uint64_t most_live_blocks = geometry_.mature_space_count - 1 - reserve_;
  const bool leaves_reserve = mature_.most_live_bytes() + regions * geometry_.mature_bytes <=
                              most_live_blocks * geometry_.mature_bytes;
  return regions + 1 + (from_reserve || leaves_reserve ? 0 : reserve_);
}

std::int64_t MemoryBook::spare_blocks() const {
  const std::uint64_t coming = mature_.free_count() + mature_.waiting_count();
  return static_cast<std::int64_t>(coming) - static_cast<std::int64_t>(needed_blocks(false));
}

bool MemoryBook::has_room_for_block_collection() const {
  return mature_.free_count() >= promised_regions() + 1;
}

std::uint64_t MemoryBook::grant(std::uint32_t index, std::uint32_t client) {
  FALAFEL_ASSERT(regions_[index].state == RegionState::free, "region {} is not free", index);
  regions_[index] = {
      .state = RegionState::granted, .client = client, .incarnation = next_incarnation_++};
  return regions_[index].incarnation;
}

bool MemoryBook::release(std::uint32_t index, std::uint32_t client, std::uint64_t incarnation) {
  if (index >= regions_.size()) return false;
  RegionInspection& region = regions_[index];
  if (region.state != RegionState::granted || region.client != client ||
      region.incarnation != incarnation) {
    return false;
  }
  region.state = RegionState::released;
  return true;
}

void MemoryBook::release_all(std::uint32_t client) {
  for (RegionInspection& region : regions_) {
    if (region.state == RegionState::granted && region.client == client) {
      region.state = RegionState::released;
    }
  }
}

std::optional<std::uint32_t> MemoryBook::region_at(std::uint64_t offset) const {
  const std::uint64_t begin = geometry_.region_offset(0);
  if (offset < begin || offset >= geometry_.region_offset(geometry_.region_count)) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>((offset - begin) / geometry_.region_bytes);
}

bool MemoryBook::is_in_use(std::uint64_t offset) const {
  if (const auto region = region_at(offset)) {
    const RegionState state = regions_[*region].state;
    return state != RegionState::free && state != RegionState::waiting;
  }
  return mature_.is_in_use(offset);
}

bool MemoryBook::holds(std::uint32_t client, std::uint64_t incarnation) const {
  return std::ranges::any_of(regions_, [&](const RegionInspection& region) {
    return region.state == RegionState::granted && region.client == client &&
           region.incarnation <= incarnation;
  });
}

}  // namespace falafel::engine
