// Decides which blocks are collected, and when.
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
#include <functional>
#include <optional>
#include <vector>

#include "engine/layout/geometry.h"
#include "engine/server/live_space.h"
#include "engine/server/memory_book.h"
#include "engine/server/server.h"
#include "engine/server/work_signal.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// The operations of the collector that the cleaner needs.
struct BlockControl {
  // Returns what is live in each block. May wait.
  std::function<std::vector<LiveSpace>()> measure;
  // Requests the collection of a block; on_collected() reports its end.
  std::function<void(std::uint32_t)> ask_for_collection;
  // A measurement has ended, so requests may be decided.
  std::function<void()> report;
};

class BlockCleaner {
 public:
  BlockCleaner(fabric::Host& host, const ServerOptions& options, MemoryBook& book,
               ServerStatistics& statistics, BlockControl control);

  // The fiber's main loop.
  void run();

  // Memory was granted, collected or freed.
  void on_change() { work_.raise(); }
  void on_collected(std::uint32_t block);
  // A request waits for room.
  void want_room();
  // Values were evicted, so there is more garbage than measured.
  void forget_measurement() { measurement_.reset(); }
  // Whether collections cannot make room: no block is worth one, and none is being collected or
  // waits for clients, by a measurement that is recent or began after a request wanted room.
  bool has_nothing_to_gain(std::uint64_t wanted_ns) const;

  std::optional<MeasurementTime> measured() const;
  bool is_idle() const { return !work_.is_raised() && !is_collecting_; }

 private:
  struct Measurement {
    std::vector<LiveSpace> blocks;
    MeasurementTime time;
    std::uint64_t allocated_bytes = 0;  // by the book, when it began
    std::uint64_t first_gain_bytes = 0;
  };

  void clean();
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
  BlockControl control_;
  WorkSignal work_;
  std::uint64_t look_again_ns_ = fabric::never_ns;
  std::optional<Measurement> measurement_;
  bool is_wanted_ = false;  // a request has come since the last measurement began
  bool is_collecting_ = false;
};

}  // namespace falafel::engine
