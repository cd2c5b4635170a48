#include "engine/server/memory_book.h"

#include <algorithm>

#include "fabric/fabric.h"

namespace falafel::engine {

MemoryBook::MemoryBook(const Geometry& geometry, bool are_held)
    : geometry_(geometry), regions_(geometry.region_count), mature_(geometry, are_held) {}

std::uint64_t MemoryBook::count(RegionState state) const {
  return static_cast<std::uint64_t>(std::ranges::count(regions_, state, &RegionInspection::state));
}

std::optional<std::uint32_t> MemoryBook::find(RegionState state) const {
  const auto found = std::ranges::find(regions_, state, &RegionInspection::state);
  if (found == regions_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - regions_.begin());
}

std::uint64_t MemoryBook::promised_regions() const {
  return count(RegionState::granted) + count(RegionState::released) +
         count(RegionState::collecting);
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
