// The mature spaces, which hold the containers that collections have copied (Behringer 3.6.1).
//
// Two spaces are semi-spaces: one is active and receives copies, and a collection of it moves what
// is live to the other, which becomes active.
//
// More spaces are blocks. One is active and receives copies. When it has no room for another
// container, a free block becomes active. A collection moves what is live in a full block to the
// active one.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/layout/geometry.h"
#include "engine/layout/inspection.h"
#include "engine/server/live_space.h"

namespace falafel::engine {

class MatureSpaces {
 public:
  // `are_held`: all spaces have memory of the system from the start (held_memory.h).
  explicit MatureSpaces(const Geometry& geometry, bool are_held = true);

  const std::vector<MatureSpaceInspection>& all() const { return spaces_; }
  const MatureSpaceInspection& operator[](std::uint32_t space) const { return spaces_[space]; }
  std::uint32_t active() const { return active_; }
  // Spaces that are held, neither active nor waiting, and empty.
  std::uint64_t free_count() const { return free_count_; }
  std::uint64_t held_count() const { return held_count_; }
  std::uint64_t not_held_count() const { return spaces_.size() - held_count_; }
  // Requires such a block.
  std::uint32_t first_not_held() const;
  std::uint32_t last_free() const;
  std::uint64_t waiting_count() const { return waiting_count_; }
  // The bytes of all copies so far.
  std::uint64_t allocated_bytes() const { return allocated_bytes_; }
  // The bytes of those that came from regions.
  std::uint64_t written_bytes() const { return written_bytes_; }
  // As many bytes of the space are garbage at least: what was measured.
  std::uint64_t dead_bytes(std::uint32_t space) const {
    return spaces_[space].used_bytes - most_live_[space];
  }
  bool is_in_use(std::uint64_t offset) const;
  // The part of the space that receives copies which they have left.
  std::uint64_t rest_bytes() const { return geometry_.mature_bytes - spaces_[target_].used_bytes; }

  // Consecutive memory for a copy, in whole units. Requires room, which the rule for grants
  // guarantees.
  std::uint64_t allocate(std::uint64_t size_bytes);
  // Copies that follow belong to the collection of this space, until its end. Semi-spaces: requires
  // that it is the active one. Blocks: that it is another one.
  void begin_collection(std::uint32_t source);
  // Requires an empty space that does not wait.
  void set_held(std::uint32_t space, bool is_held);
  // The source is empty. `waits` delays its reuse.
  void end_collection(std::uint32_t source, bool waits);
  void set_reclaimed(std::uint32_t space);
  // For a server that starts over memory which has data: the space has some up to there.
  void restore(std::uint32_t space, std::uint64_t used_bytes);
  // The same: copies go to that space from now on.
  void activate(std::uint32_t space);
  // A measurement has found this in each space.
  void note_live(const std::vector<LiveSpace>& measured);

 private:
  std::uint32_t take_free_space();
  void note_free(std::uint32_t space);
  void count_free();

  Geometry geometry_;
  std::vector<MatureSpaceInspection> spaces_;
  std::vector<std::uint64_t> most_live_;  // of each space, in bytes
  std::uint32_t active_ = 0;
  std::uint32_t target_ = 0;     // of copies: the active space, or the semi-space after it
  std::uint32_t next_free_ = 0;  // no free block has a lower number
  std::uint64_t free_count_;
  std::uint64_t held_count_;
  std::uint64_t waiting_count_ = 0;
  std::uint64_t allocated_bytes_ = 0;
  std::uint64_t written_bytes_ = 0;
  bool is_collecting_ = false;  // copies come from a mature space
};

}  // namespace falafel::engine
