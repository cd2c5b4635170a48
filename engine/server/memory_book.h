// Records the owner of each part of the chunk, regions and mature spaces, and decides whether
// another region may be granted (Behringer 3.3).
//
// A region may be granted only while the active mature space has room for every region that is
// granted or queued for collection, even if all of them are full of live data. This guarantees that
// a collection always finishes. The room for one more region is reserved for SETs that overwrite,
// because they do not increase the amount of live data.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/layout/geometry.h"
#include "engine/server/server.h"

namespace falafel::engine {

class MemoryBook {
 public:
  // `keeps_reserve`: see ServerOptions::keeps_overwrite_reserve.
  explicit MemoryBook(const Geometry& geometry, bool keeps_reserve = true);

  // Regions.
  const RegionInspection& region(std::uint32_t index) const { return regions_[index]; }
  std::uint32_t region_count() const { return static_cast<std::uint32_t>(regions_.size()); }
  std::uint64_t count(RegionState state) const;
  std::optional<std::uint32_t> find(RegionState state) const;
  // `from_reserve` stands for a grant to SETs that do not increase the number of live bytes.
  bool has_room_for_grant(std::uint64_t mature_bytes_in_use, bool from_reserve) const;
  // Requires a free region; returns its new incarnation.
  std::uint64_t grant(std::uint32_t index, std::uint32_t client);
  // Returns false if the client does not hold that incarnation of the region.
  bool release(std::uint32_t index, std::uint32_t client, std::uint64_t incarnation);
  void release_all(std::uint32_t client);
  // Whether the client holds a region with an incarnation up to this one.
  bool holds(std::uint32_t client, std::uint64_t incarnation) const;
  std::uint64_t last_incarnation() const { return next_incarnation_ - 1; }
  void set_state(std::uint32_t index, RegionState state) { regions_[index].state = state; }

  // Mature spaces: one is active and receives collected containers.
  std::uint32_t active_space() const { return active_; }
  std::uint32_t other_space() const { return 1 - active_; }
  std::uint64_t used_bytes() const { return spaces_[active_].used_bytes; }
  bool is_waiting(std::uint32_t space) const { return spaces_[space].waiting; }
  // The region at that offset, if any.
  std::optional<std::uint32_t> region_at(std::uint64_t offset) const;
  // Whether the offset may hold a container.
  bool is_in_use(std::uint64_t offset) const;
  // Returns consecutive memory of a space in whole units. Requires room, which is guaranteed for
  // collections.
  std::uint64_t allocate(std::uint32_t space, std::uint64_t size_bytes);
  // Makes the other space active and empties the previous one; `waits` delays its reuse.
  void flip(bool waits);
  void set_reclaimed(std::uint32_t space) { spaces_[space].waiting = false; }

  std::vector<RegionInspection> regions() const { return regions_; }
  std::vector<MatureSpaceInspection> mature_spaces() const;
  ServerBooks books() const { return {.regions = regions_, .mature_spaces = spaces_}; }

 private:
  Geometry geometry_;
  std::uint64_t reserve_bytes_;
  std::vector<RegionInspection> regions_;
  std::array<MatureSpaceInspection, mature_space_count> spaces_{};
  std::uint32_t active_ = 0;
  std::uint64_t next_incarnation_ = 1;
};

}  // namespace falafel::engine
