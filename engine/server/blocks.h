// More than two mature spaces: blocks, of which one is active, and decides which blocks are
// collected, and when.
//
// There is room for a region if there is a free block for each region that is granted or not yet
// collected, and one for the collection of a block. That is enough, because a region or block is
// not longer than a block: if its containers do not fit into the active block, then the rest of
// them fits into the next one. A region that may increase the amount of live data must also leave
// the reserve: enough usable memory that values can be overwritten, wherever garbage is
// (docs/protocol.md, "Blocks").
//
// Usable memory is free memory, and memory that collections of full blocks gain. A collection takes
// a block of b bytes, l of them live and d dead, and gives it back empty. It needs l bytes of other
// blocks. If it opens a new block, it leaves less than the length c of its longest container unused
// at the end of the one before. It therefore gains b - l - c bytes at least, and if that is less, d
// bytes, because the end of the block is as useless elsewhere. The block that gains most is next.
//
// The cleaner keeps some blocks free for grants, as long as a collection gains at least a quarter
// of its block and thus copies at most three bytes for each byte gained. While only one grant or
// none is possible, it is content with a 64th. After that, the memory counts as full.
//
// Only a measurement of the memory shows what is live. Bytes that are in use but not live never
// become live, so a block has at least as much garbage as measured, until it is collected. The
// cleaner measures again when it knows of no block that gains enough. In a full memory, a
// measurement finds garbage for a number of regions that grows with the memory, so that overwriting
// is paced by copying and not by measurements. A request that lacks usable memory needs a
// measurement too, unless the last one is recent and nobody has freed memory since.
//
// A memory that grows (ServerOptions::memory_grows) holds some of the blocks. Those that are not
// held count as usable, but not as free. The cleaner holds more of them when grants lack free
// blocks: at once while less than twice the live data is held, and otherwise only if no block gains
// a quarter by a collection. So the store holds about as much as it does with a fixed memory that
// is well filled, and measurements cost as much as a few readings of the data. If the system
// refuses memory, requests that have waited for it find what is held to be all there is, and later
// ones try again. After clients have freed memory, the cleaner measures in a hundredth of its time.
// If more than twice the live data is held, it collects the blocks that gain at least a half, and
// it releases free blocks beyond those for grants and an eighth of all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/layout/geometry.h"
#include "engine/server/held_memory.h"
#include "engine/server/live_space.h"
#include "engine/server/mature_space.h"
#include "engine/server/memory_book.h"
#include "engine/server/server_inspection.h"
#include "engine/server/server_options.h"
#include "engine/server/work_signal.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class Blocks final : public MatureSpace {
 public:
  Blocks(fabric::Host& host, const ServerOptions& options, MemoryBook& book, HeldMemory& held,
         ServerStatistics& statistics, MatureSpaceControl& control);

  Outlook room_for(const RoomRequest& request) const override;
  void make_room(RoomRequest& request) override;
  void on_waiting(const RoomRequest& request) override;
  void on_freed() override;
  void on_change() override { work_.raise(); }
  void on_collected(std::uint32_t block) override;
  std::uint64_t capacity_bytes() const override;
  std::optional<MeasurementTime> measured() const override;
  bool is_idle() const override { return !work_.is_raised() && !is_collecting_; }
  bool has_fiber() const override { return true; }
  void run() override;

 private:
  static constexpr std::uint64_t slack_share = 8;

  struct Measurement {
    std::vector<LiveSpace> blocks;
    MeasurementTime time;
    std::uint64_t written_bytes = 0;    // by the book, when it began
    std::uint64_t entries_cleaned = 0;  // when it began
    std::uint64_t usable_bytes = 0;     // when it ended
  };

  // Room
  bool has_free_blocks() const;
  // How many more blocks are free or wait for clients than a grant needs; negative: how many fewer.
  std::int64_t spare_blocks() const;
  std::uint64_t usable_bytes() const;
  bool leaves_reserve(const RoomRequest& request) const {
    return leaves_reserve(request, usable_bytes());
  }
  bool leaves_reserve(const RoomRequest& request, std::uint64_t usable_bytes) const;
  bool was_measured_after(const RoomRequest& request) const;
  // The same, or the last measurement is recent, and clients have reported nothing since.
  bool is_measured_for(const RoomRequest& request) const;
  // These are true if collections cannot make room: there is too little usable memory, or no block
  // is worth a collection, and none is being collected or waits for clients.
  bool is_measured_full(const RoomRequest& request) const;
  bool has_nothing_to_gain(const RoomRequest& request) const;
  // Blocks may become free without a measurement.
  bool may_free_blocks() const;

  // Growth
  bool may_grow() const { return book_.mature().not_held_count() > 0 && !refused_ns_; }
  // The system has refused no memory since the request began to wait.
  bool may_grow_for(const RoomRequest& request) const;
  void grow();
  void release_free_blocks();
  std::uint64_t live_blocks() const;  // by the last measurement
  // Compared with twice the live data.
  bool is_small() const;
  bool is_oversized() const;
  std::uint64_t slack_blocks() const { return book_.mature().held_count() / slack_share; }

  // Cleaning
  void clean();
  bool look_for_garbage();
  bool has_room_for_collection() const;
  bool lacks_blocks() const;
  bool lacks_free_blocks() const;  // and may grow
  std::uint64_t kept_blocks() const;
  bool is_short() const { return spare_blocks() < 1; }
  std::uint64_t gain_share() const;
  bool is_measurement_useful() const;
  bool may_hold_too_much() const;
  bool is_outdated() const;
  // Clients or cleanups have freed memory since the last measurement began.
  bool has_freed_memory() const;
  // When the next measurement may begin if measurements take one of `share` parts of the time.
  std::uint64_t due_ns(std::uint64_t share) const;
  void measure();
  std::optional<std::uint32_t> find_source(std::uint64_t share) const;
  std::uint64_t gain_bytes(std::uint32_t block) const;

  fabric::Host& host_;
  const ServerOptions& options_;
  const Geometry& geometry_;
  MemoryBook& book_;
  HeldMemory& held_;
  ServerStatistics& statistics_;
  MatureSpaceControl& control_;
  const std::uint64_t least_held_;  // blocks
  WorkSignal work_;
  std::uint64_t look_again_ns_ = fabric::never_ns;
  std::optional<Measurement> measurement_;
  bool is_wanted_ = false;  // a request waits for a measurement
  bool has_freed_ = false;  // clients have freed memory since the last measurement began
  bool is_collecting_ = false;
  bool is_measuring_ = false;
  // It measures because memory was freed since the last measurement, which is therefore outdated.
  bool measures_freed_ = false;
  std::optional<std::uint64_t> refused_ns_;  // when the system refused memory
};

}  // namespace falafel::engine
