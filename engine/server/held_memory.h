// The parts of the chunk that hold memory of the system, in a store whose memory grows
// (ServerOptions::memory_grows).
//
// The chunk has the size of the limit, and the server commits a part of it before the first use
// (fabric::MemoryBlock::commit): the first table and what is before it at the start, a region
// before it is granted, a block before it counts as free, and a later table before it begins. It
// releases only blocks, when they are empty and no client's operation refers to them.
// docs/protocol.md ("Memory that grows") says why nobody needs what is not held.
//
// In other stores, everything is held.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/layout/geometry.h"
#include "engine/server/mature_spaces.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class HeldMemory {
 public:
  // The part before the regions is committed. Counts the refusals of the system in `refusals`.
  HeldMemory(const Geometry& geometry, bool grows, std::shared_ptr<fabric::MemoryBlock> block,
             MatureSpaces& mature, std::uint64_t& refusals);

  bool grows() const { return grows_; }
  // These return false if the system has no more memory. What is held already costs nothing.
  // All tables up to that one, because clients may still pass those before the first one in use.
  bool hold_tables(std::uint32_t last);
  bool hold_region(std::uint32_t region);
  bool hold_block(std::uint32_t block);
  // Holds the block that is free and not held, and has the lowest number. Requires one.
  bool hold_another_block();
  // Requires one that is free and held. Of these, releases that with the highest number.
  void release_a_block();

  // Returns whether the server may read a container there. It is in one region or one block. What a
  // hostile client makes may reach beyond, where there may be no memory between two parts.
  bool holds(std::uint64_t offset, std::uint64_t length_bytes) const;
  std::uint64_t held_bytes() const { return held_bytes_; }

 private:
  bool hold(std::uint64_t offset, std::uint64_t length_bytes);

  const Geometry geometry_;
  const bool grows_;
  std::shared_ptr<fabric::MemoryBlock> block_;
  MatureSpaces& mature_;
  std::uint64_t& refusals_;
  std::vector<bool> regions_;
  std::vector<bool> tables_;
  std::uint64_t held_bytes_;
};

// The end of the part of the chunk that every store holds from the start.
std::uint64_t end_of_fixed_part(const Geometry& geometry);

}  // namespace falafel::engine
