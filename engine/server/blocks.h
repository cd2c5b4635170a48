// More than two mature spaces: blocks, of which one is active, and decides which blocks are
// collected, and when.
//
// There is room for a region if there is a free block for each region that is granted or not yet
// collected, and one for the collection of a block. That is enough, because a region or block is
// not longer than a block: if its containers do not fit into the active block, then the rest of
// them fits into the next one. The reserve is so much memory that is not live that the garbage of
// overwrites can be collected, even if it is scattered over all blocks (docs/protocol.md,
// "Blocks").
//
// A collection takes a block of b bytes, l of them live, and gives it back empty. It needs l bytes
// of other blocks. If it opens a new block, it leaves less than the length of its longest container
// unused at the end of the one before. It therefore gains memory if b - l is at least that length.
// The block that gains most is next.
//
// The cleaner keeps some blocks free for grants, as long as a collection gains at least a quarter
// of its block and thus copies at most three bytes for each byte gained. While there is no room for
// a grant, it is content with a 32nd. After that, the memory counts as full.
//
// Only a measurement of the memory shows what is live. Bytes that are in use but not live never
// become live, so a block has at least as much garbage as measured, until it is collected. The
// cleaner measures again when the best block that it knows gains less than half as much as the
// first one did.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/layout/geometry.h"
#include "engine/server/live_space.h"
#include "engine/server/mature_space.h"
#include "engine/server/memory_book.h"
#include "engine/server/server.h"
#include "engine/server/work_signal.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class Blocks final : public MatureSpace {
 public:
  Blocks(fabric::Host& host, const ServerOptions& options, MemoryBook& book,
         ServerStatistics& statistics, MatureSpaceControl control);

  Outlook room_for(const RoomRequest& request) const override;
  void make_room(RoomRequest& request) override;
  void on_waiting() override;
  void on_change() override { work_.raise(); }
  void on_collected(std::uint32_t block) override;
  std::uint64_t capacity_bytes() const override;
  std::optional<MeasurementTime> measured() const override;
  bool is_idle() const override { return !work_.is_raised() && !is_collecting_; }
  bool has_fiber() const override { return true; }
  void run() override;

 private:
  struct Measurement {
    std::vector<LiveSpace> blocks;
    MeasurementTime time;
    std::uint64_t allocated_bytes = 0;  // by the book, when it began
    std::uint64_t first_gain_bytes = 0;
  };

  // Room
  bool has_room(bool overwrites) const;
  std::uint64_t needed_blocks(bool overwrites) const;
  // How many more blocks are free or wait for clients than a grant needs that is not from the
  // reserve; negative: how many fewer.
  std::int64_t spare_blocks() const;
  // True if collections cannot make room: no block is worth one, and none is being collected or
  // waits for clients, by a measurement that is recent or began after a request wanted room.
  bool has_nothing_to_gain(std::uint64_t wanted_ns) const;

  // Cleaning
  void clean();
  // A block may be collected now unless blocks wait for clients.
  bool has_room_for_collection() const;
  bool is_short() const;
  bool has_enough() const;
  // A request is decided only when no block waits for clients.
  bool is_measurement_useful(std::uint64_t gain_share) const;
  bool is_outdated() const;
  std::uint64_t due_ns() const;
  void measure();
  std::optional<std::uint32_t> find_best_block() const;
  std::optional<std::uint32_t> find_source(std::uint64_t gain_share) const;
  std::uint64_t gain_bytes(std::uint32_t block) const;

  fabric::Host& host_;
  const ServerOptions& options_;
  const Geometry& geometry_;
  MemoryBook& book_;
  ServerStatistics& statistics_;
  MatureSpaceControl control_;
  const std::uint64_t reserve_blocks_;
  WorkSignal work_;
  std::uint64_t look_again_ns_ = fabric::never_ns;
  std::optional<Measurement> measurement_;
  bool is_wanted_ = false;  // a request has come since the last measurement began
  bool is_collecting_ = false;
};

}  // namespace falafel::engine
