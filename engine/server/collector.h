// The collector: a generational semi-space garbage collector (Behringer 3.6.1).
//
// To free memory it finds every container there that an entry points to, copies it out of the space to be
// freed, and swaps the entry for one that points to the copy. What no entry points to is garbage. Regions
// that clients have released (nurseries) are collected into the active mature space; that, when it is
// full of garbage, into the other one.
//
// Of a deleted entry's container only header and key are kept: the key is what collision chains need.
//
// A collection always finishes, whatever clients have written. It copies no more bytes than it frees,
// because containers that live do not overlap; where somebody hostile made them do, or made several
// entries share one, what is beyond that is deleted. And it tries only so often to move one entry.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/server/byte_ranges.h"
#include "engine/server/chunk.h"
#include "engine/server/entry_updater.h"
#include "engine/server/memory_book.h"
#include "engine/server/pace.h"
#include "engine/server/server.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class Collector {
 public:
  Collector(fabric::Host& host, const Chunk& chunk, const ServerOptions& options,
            EntryUpdater& updater, MemoryBook& book, ServerStatistics& statistics);

  // Each waits, and ends when all its updates have.
  //
  // Moves what lives in these regions to the active mature space. Without
  // Safeguards::drain_before_free, `free_early` is called when everything is copied but updates are not
  // complete.
  void collect_regions(const std::vector<std::uint32_t>& regions,
                       const std::function<void()>& free_early);
  // Moves what lives in the active mature space to the other one.
  void collect_mature_space(const std::function<void()>& free_early);

  // What would be in use after collect_mature_space(). May wait.
  std::uint64_t live_mature_bytes();

 private:
  // An entry that points into the memory to be freed.
  using Visit = std::function<void(std::uint64_t slot, Entry entry)>;
  // One collection.
  struct Task {
    const ByteRanges& source;
    std::uint32_t target;
    std::uint64_t room_bytes;  // that may still be copied
  };

  void collect(const ByteRanges& source, std::uint32_t target,
               const std::function<void()>& free_early);
  bool scan_memory(const ByteRanges& source, const Visit& visit);
  void walk_table(const ByteRanges& source, const Visit& visit);
  ByteRanges active_range() const;

  void move(std::uint64_t slot, Entry entry, Task& task);
  Entry copy(Entry entry, Task& task);
  void submit(const EntryUpdate& update, const Task& task);
  void settle(const UpdateOutcome& outcome, const Task& task);
  void settle_all(const Task& task);
  Entry with_tag(Entry moved) const;
  bool points_into(const ByteRanges& source, Entry entry) const;
  std::uint64_t kept_bytes(Entry entry) const;

  fabric::Host& host_;
  const Chunk& chunk_;
  const ServerOptions& options_;
  const Safeguards& safeguards_;
  EntryUpdater& updater_;
  MemoryBook& book_;
  ServerStatistics& statistics_;
  Pace pace_;
};

}  // namespace falafel::engine
