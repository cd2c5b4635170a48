// Records the owner of each part of the chunk, regions and mature spaces, and decides whether
// another region may be granted (Behringer 3.3).
//
// A region may be granted only while the mature spaces have room for every region that is granted
// or queued for collection, even if all of them are full of live data. This guarantees that a
// collection always finishes. Some room is reserved for SETs that overwrite, because they do not
// increase the amount of live data.
//
// Semi-spaces have room if those regions fit into the active one. The reserve is one region.
//
// Blocks have room if there is a free one for each region and one for the collection of a block.
// That is enough, because a region or block is not longer than a block: if its containers do not
// fit into the active block, then the rest of them fits into the next one. The reserve is so much
// memory that is not live that the garbage of overwrites can be collected, even if it is scattered
// over all blocks (docs/protocol.md, "Blocks").
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/layout/geometry.h"
#include "engine/server/mature_spaces.h"
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
  bool has_room_for_grant(bool from_reserve) const;
  // The same without these bytes of the active semi-space.
  bool would_have_room_without(std::uint64_t garbage_bytes, bool from_reserve) const;
  // How many more blocks are free or wait for clients than a grant needs that is not from the
  // reserve; negative: how many fewer.
  std::int64_t spare_blocks() const;
  // Whether a block may be collected now. It may, unless blocks wait for clients.
  bool has_room_for_block_collection() const;
  // Requires a free region; returns its new incarnation.
  std::uint64_t grant(std::uint32_t index, std::uint32_t client);
  // Returns false if the client does not hold that incarnation of the region.
  bool release(std::uint32_t index, std::uint32_t client, std::uint64_t incarnation);
  void release_all(std::uint32_t client);
  // Whether the client holds a region with an incarnation up to this one.
  bool holds(std::uint32_t client, std::uint64_t incarnation) const;
  std::uint64_t last_incarnation() const { return next_incarnation_ - 1; }
  void set_state(std::uint32_t index, RegionState state) { regions_[index].state = state; }

  MatureSpaces& mature() { return mature_; }
  const MatureSpaces& mature() const { return mature_; }
  // The region at that offset, if any.
  std::optional<std::uint32_t> region_at(std::uint64_t offset) const;
  // Whether the offset may hold a container.
  bool is_in_use(std::uint64_t offset) const;

  std::vector<RegionInspection> regions() const { return regions_; }
  ServerBooks books() const { return {.regions = regions_, .mature_spaces = mature_.all()}; }

 private:
  std::uint64_t promised_regions() const;
  std::uint64_t needed_blocks(bool from_reserve) const;

  Geometry geometry_;
  std::uint64_t reserve_;  // in regions, or blocks
  std::vector<RegionInspection> regions_;
  MatureSpaces mature_;
  std::uint64_t next_incarnation_ = 1;
};

}  // namespace falafel::engine
