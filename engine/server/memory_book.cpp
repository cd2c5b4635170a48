#include "engine/server/memory_book.h"

#include <algorithm>

#include "fabric/fabric.h"

namespace falafel::engine {

MemoryBook::MemoryBook(const Geometry& geometry, bool keeps_reserve)
    : geometry_(geometry),
      reserve_bytes_(keeps_reserve && geometry.mature_bytes >= 4 * geometry.region_bytes
                         ? geometry.region_bytes
                         : 0),
      regions_(geometry.region_count) {
  spaces_[active_].active = true;
}

std::uint64_t MemoryBook::count(RegionState state) const {
  return static_cast<std::uint64_t>(std::ranges::count(regions_, state, &RegionInspection::state));
}

std::optional<std::uint32_t> MemoryBook::find(RegionState state) const {
  const auto found = std::ranges::find(regions_, state, &RegionInspection::state);
  if (found == regions_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - regions_.begin());
}

bool MemoryBook::has_room_for_grant(std::uint64_t mature_bytes_in_use, bool from_reserve) const {
  const std::uint64_t outstanding =
      count(RegionState::granted) + count(RegionState::released) + count(RegionState::collecting);
  const std::uint64_t kept_bytes = from_reserve ? 0 : reserve_bytes_;
  return mature_bytes_in_use + (outstanding + 1) * geometry_.region_bytes + kept_bytes <=
         geometry_.mature_bytes;
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
  for (std::uint32_t space = 0; space < mature_space_count; ++space) {
    const std::uint64_t begin = geometry_.mature_offset(space);
    if (offset >= begin && offset < begin + spaces_[space].used_bytes) return true;
  }
  return false;
}

bool MemoryBook::holds(std::uint32_t client, std::uint64_t incarnation) const {
  return std::ranges::any_of(regions_, [&](const RegionInspection& region) {
    return region.state == RegionState::granted && region.client == client &&
           region.incarnation <= incarnation;
  });
}

std::uint64_t MemoryBook::allocate(std::uint32_t space, std::uint64_t size_bytes) {
  MatureSpaceInspection& mature = spaces_[space];
  const std::uint64_t rounded_bytes = geometry_.round_up_to_unit(size_bytes);
  FALAFEL_ASSERT(mature.used_bytes + rounded_bytes <= geometry_.mature_bytes,
                 "mature space {} has no room for {} bytes: {} of {} are in use", space,
                 rounded_bytes, mature.used_bytes, geometry_.mature_bytes);
  const std::uint64_t offset = geometry_.mature_offset(space) + mature.used_bytes;
  mature.used_bytes += rounded_bytes;
  return offset;
}

void MemoryBook::flip(bool waits) {
  FALAFEL_ASSERT(!spaces_[other_space()].waiting, "mature space {} is not free", other_space());
  spaces_[active_] = {.active = false, .waiting = waits, .used_bytes = 0};
  active_ = other_space();
  spaces_[active_].active = true;
}

std::vector<MatureSpaceInspection> MemoryBook::mature_spaces() const {
  return {spaces_.begin(), spaces_.end()};
}

}  // namespace falafel::engine
