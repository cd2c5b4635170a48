// Finds live containers in a part of memory by scanning the memory instead of the table. A
// container is live if it has a valid header and key at a unit boundary and an entry in the chain
// of that key points to it. The cost of a collection therefore depends on the contents of the
// memory, not on the size of the table.
//
// The scan passes memory without an entry unit by unit, because lengths in it may be wrong: it may
// be a remnant of the region's earlier owner. The lengths of live containers are correct, so the
// scan passes each as a whole. docs/protocol.md proves that the scan misses nothing.
//
// When the table is full, chains may be as long as the table, and a malicious client may fill a
// region with headers of long keys. A scan therefore gives up when it has examined more than a walk
// over the table would.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/layout/entry.h"
#include "engine/server/byte_ranges.h"
#include "engine/server/chunk.h"
#include "engine/server/pace.h"

namespace falafel::engine {

// A container with the entry that points to it, and the locations of both.
struct LiveContainer {
  std::uint64_t slot = 0;
  Entry entry;
  ContainerHeader header;
};

class RegionScan {
 public:
  // Requires that nobody writes to the range. `shifted`: how many entries the cleanup has moved to
  // an earlier slot, counted before it changes the slot that each leaves.
  RegionScan(const Chunk& chunk, Pace& pace, const ByteRange& range, const std::uint64_t& shifted);

  // Returns the next container in memory order. May wait. Returns nullopt at the end, or if the
  // scan has given up.
  std::optional<LiveContainer> next();
  bool has_given_up() const { return work_left_ == 0; }

 private:
  bool may_begin_container() const;
  std::optional<LiveContainer> examine();
  std::optional<LiveContainer> find_entry(std::span<const std::byte> key);
  std::optional<LiveContainer> search(std::span<const std::byte> key);
  void work(std::uint64_t amount);

  const Chunk& chunk_;
  Pace& pace_;
  const std::uint64_t& shifted_;
  std::uint64_t position_;
  std::uint64_t end_;
  std::uint64_t work_left_;
};

}  // namespace falafel::engine
