// The collector: a generational semi-space garbage collector (Behringer 3.6.1).
//
// To free memory it walks the table, copies every container that an entry points to out of the space to
// be freed, and swaps the entry for one that points to the copy. What no entry points to is garbage and
// is never looked at. Regions that clients have released (nurseries) are collected into the active mature
// space; that, when it is full of garbage, into the other one.
//
// Of a deleted entry's container only header and key are kept: the key is what collision chains need.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "engine/server/chunk.h"
#include "engine/server/entry_updater.h"
#include "engine/server/memory_book.h"
#include "engine/server/server.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class Collector {
 public:
  Collector(fabric::Host& host, const Chunk& chunk, const Safeguards& safeguards,
            EntryUpdater& updater, MemoryBook& book, ServerStatistics& statistics);

  // Each waits, and ends when all its updates have. False: the target was full, which honest clients
  // cannot bring about; what is not yet copied is still where it was.
  //
  // Moves what lives in regions of state `collecting` to the active mature space. Without
  // Safeguards::drain_before_free, `free_early` is called when the walk is over but updates are not.
  bool collect_regions(const std::function<void()>& free_early);
  // Moves what lives in the active mature space to the other one.
  bool collect_mature_space(const std::function<void()>& free_early);

  // What would be in use after collect_mature_space().
  std::uint64_t live_mature_bytes() const;

 private:
  using IsSource = std::function<bool(std::uint64_t offset)>;

  bool collect(const IsSource& is_source, std::uint32_t target,
               const std::function<void()>& free_early);
  std::optional<Entry> copy(Entry entry, std::uint32_t target);
  void submit(const EntryUpdate& update, const IsSource& is_source);
  void settle(const UpdateOutcome& outcome, const IsSource& is_source);
  bool points_into(const IsSource& is_source, Entry entry) const;

  fabric::Host& host_;
  const Chunk& chunk_;
  const Safeguards& safeguards_;
  EntryUpdater& updater_;
  MemoryBook& book_;
  ServerStatistics& statistics_;
};

}  // namespace falafel::engine
