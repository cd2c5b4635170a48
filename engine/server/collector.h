// The collector: a generational garbage collector (Behringer 3.6.1).
//
// To free memory, it finds every container in it that an entry points to, copies the container, and
// swaps the entry for one that points to the copy. Containers without an entry are garbage. Regions
// that clients have released (nurseries) are collected into the active mature space. Semi-spaces:
// when that space is full of garbage, it is collected into the other one. Blocks: those with most
// garbage are collected into the active one.
//
// The collector copies only the header and the key of a deleted entry's container, because
// collision chains need the key. In a cache, it does the same with a value that has expired, and
// the entry becomes a deleted one.
//
// A collection always finishes, whatever clients have written. It copies no more bytes of a region
// than the region has, because live containers do not overlap. If a malicious client made
// containers overlap, or made several entries share one, the collector deletes whatever exceeds
// that amount; containers in other regions are not affected. The number of attempts to move one
// entry is bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/server/byte_ranges.h"
#include "engine/server/chunk.h"
#include "engine/server/entry_updater.h"
#include "engine/server/fiber_mutex.h"
#include "engine/server/live_space.h"
#include "engine/server/memory_book.h"
#include "engine/server/pace.h"
#include "engine/server/server_inspection.h"
#include "engine/server/server_options.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class Collector {
 public:
  Collector(fabric::Host& host, const Chunk& chunk, const ServerOptions& options,
            EntryUpdater& updater, MemoryBook& book, ServerStatistics& statistics);

  // A collection is one of the first two functions, and then settle(). All of them wait.
  //
  // Moves live containers of these regions to the active mature space: copies them, and submits the
  // updates of their entries. Blocks: one region after the other, because the copies of each may
  // open one block.
  void move_regions(const std::vector<std::uint32_t>& regions);
  // Moves the live containers of this mature space to another one.
  void move_mature_space(std::uint32_t space);
  // Returns when all updates have completed, and no entry points into the source any more.
  void settle();

  // For a server that starts over memory which has data: moves the live containers of that part to
  // the rest of the active mature space. What does not fit there is lost.
  void collect_former(const ByteRange& source);

  // The data that a collection of each mature space would copy. Waits. Who moves entries holds
  // `moving`.
  std::vector<LiveSpace> measure_mature_spaces(FiberMutex& moving);

 private:
  // Visits an entry that points into the memory to be freed.
  using Visit = std::function<void(std::uint64_t slot, Entry entry)>;
  // The parameters of one collection.
  struct Task {
    ByteRanges source;
    std::vector<std::uint64_t> room_bytes;  // bytes that may still be copied, for each range
  };

  // Copies at most this number of bytes from each range.
  void move_all(ByteRanges source, std::uint64_t most_bytes = ~std::uint64_t{0});
  bool scan_memory(const ByteRanges& source, const Visit& visit);
  void walk_table(const ByteRanges& source, const Visit& visit);
  std::vector<LiveSpace> unmeasured_spaces() const;
  ByteRanges used_ranges(const std::vector<LiveSpace>& spaces) const;
  ByteRange used_range(std::uint32_t space) const;

  void move(std::uint64_t slot, Entry entry, Task& task);
  Entry copy(Entry entry, Task& task);
  void submit(const EntryUpdate& update, const Task& task);
  void submit_in_order(const EntryUpdate& update, const Task& task);
  void settle(const UpdateOutcome& outcome, const Task& task);
  void settle_all(const Task& task);
  void note_age(const EntryUpdate& update);
  Entry with_tag(Entry moved) const;
  bool points_into(const ByteRanges& source, Entry entry) const;
  std::uint64_t kept_bytes(Entry entry) const;
  bool has_expired(Entry entry, const ContainerHeader& header) const;

  fabric::Host& host_;
  const Chunk& chunk_;
  const ServerOptions& options_;
  const Safeguards& safeguards_;
  EntryUpdater& updater_;
  MemoryBook& book_;
  ServerStatistics& statistics_;
  Pace pace_;
  std::optional<Task> task_;  // from its beginning until it is settled
};

}  // namespace falafel::engine
