// Finds what lives in a piece of memory by looking there, not in the table: every unit at which a
// container with valid header and key begins, and to which an entry in the chain of that key points, is a
// container that lives. So a collection costs what the memory holds, whatever the table's length.
//
// What no entry points to is passed unit by unit, because its lengths may lie: it may be what an earlier
// owner of the region left in a hole. Of what lives the lengths are right, and it is passed as a whole.
// docs/protocol.md shows that nothing is missed.
//
// Chains may be as long as the table when that is full, and somebody hostile may fill a region with
// headers of long keys. So a scan gives up when it has looked at more than a walk over the table would.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/layout/entry.h"
#include "engine/server/byte_ranges.h"
#include "engine/server/chunk.h"
#include "engine/server/pace.h"

namespace falafel::engine {

// An entry that points to a container, and where the two are.
struct LiveContainer {
  std::uint64_t slot = 0;
  Entry entry;
  ContainerHeader header;
};

class RegionScan {
 public:
  // Of a piece of memory where nobody writes.
  RegionScan(const Chunk& chunk, Pace& pace, const ByteRange& range);

  // The next one in the order of memory. May wait. Empty at the end, or if the scan has given up.
  std::optional<LiveContainer> next();
  bool has_given_up() const { return work_left_ == 0; }

 private:
  bool may_begin_container() const;
  std::optional<LiveContainer> examine();
  std::optional<LiveContainer> find_entry(std::span<const std::byte> key);
  void work(std::uint64_t amount);

  const Chunk& chunk_;
  Pace& pace_;
  std::uint64_t position_;
  std::uint64_t end_;
  std::uint64_t work_left_;
};

}  // namespace falafel::engine
