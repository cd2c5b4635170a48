// Records the owner of each part of the chunk: regions and mature spaces (Behringer 3.3).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/layout/geometry.h"
#include "engine/server/mature_spaces.h"
#include "engine/server/server_inspection.h"

namespace falafel::engine {

class MemoryBook {
 public:
  // `are_held`: as of MatureSpaces.
  explicit MemoryBook(const Geometry& geometry, bool are_held = true);

  // Regions.
  const RegionInspection& region(std::uint32_t index) const { return regions_[index]; }
  std::uint32_t region_count() const { return static_cast<std::uint32_t>(regions_.size()); }
  std::uint64_t count(RegionState state) const;
  std::optional<std::uint32_t> find(RegionState state) const;
  // The regions whose content may still have to be copied.
  std::uint64_t promised_regions() const;
  // Requires a free region; returns its new incarnation.
  std::uint64_t grant(std::uint32_t index, std::uint32_t client);
  // Returns false if the client does not hold that incarnation of the region.
  bool release(std::uint32_t index, std::uint32_t client, std::uint64_t incarnation);
  void release_all(std::uint32_t client);
  // Returns whether the client holds a region with an incarnation up to this one.
  bool holds(std::uint32_t client, std::uint64_t incarnation) const;
  std::uint64_t last_incarnation() const { return next_incarnation_ - 1; }
  void set_state(std::uint32_t index, RegionState state) { regions_[index].state = state; }

  MatureSpaces& mature() { return mature_; }
  const MatureSpaces& mature() const { return mature_; }
  // The region at that offset, if any.
  std::optional<std::uint32_t> region_at(std::uint64_t offset) const;
  // Returns whether the offset may hold a container.
  bool is_in_use(std::uint64_t offset) const;

  const std::vector<RegionInspection>& regions() const { return regions_; }
  ServerBooks books() const { return {.regions = regions_, .mature_spaces = mature_.all()}; }

 private:
  Geometry geometry_;
  std::vector<RegionInspection> regions_;
  MatureSpaces mature_;
  std::uint64_t next_incarnation_ = 1;
};

}  // namespace falafel::engine
