// Eviction: deletes values of a full cache, so that SETs find memory and slots.
//
// CLOCK (docs/cache.md): a hand goes around the table. It deletes each value that it meets, unless
// a client has reported an access to its slot since the hand was last there. Clients report some of
// their GETs (engine/layout/access_report.h); what they report is a hint, and may be wrong. Pinned
// values (engine/layout/pinned.h) stay.
//
// A value is deleted as by a DELETE of a client, with a compare-and-swap against the entry that the
// hand saw. It takes turns with the collector and the cleanup (Safeguards::exclusion), so what it
// reads of a container stays until then.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/server/chunk.h"
#include "engine/server/container_reader.h"
#include "engine/server/fiber_mutex.h"
#include "engine/server/memory_book.h"
#include "engine/server/server_inspection.h"
#include "engine/server/server_options.h"
#include "engine/server/single_update.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// ServerOptions::evicted_percent of a capacity, at least 1.
std::uint64_t evicted_part(const ServerOptions& options, std::uint64_t capacity);

class Eviction {
 public:
  // `moving` is held by whoever moves entries.
  Eviction(fabric::Host& host, const Chunk& chunk, const ServerOptions& options,
           const MemoryBook& book, EntryUpdater& updater, ContainerReader& reader,
           FiberMutex& moving, ServerStatistics& statistics);

  void on_accessed(std::uint64_t slot) { accessed_[slot] = true; }

  struct Freed {
    std::uint64_t entries = 0;  // deleted ones
    std::uint64_t bytes = 0;    // of the mature spaces that are garbage now
    // True if the hand met deleted entries, whose keys are kept in the memory until a cleanup.
    bool met_deleted = false;
  };
  // Deletes values in mature spaces until this number of bytes there has become garbage. May free
  // fewer, but frees none only if all values that are left there are pinned. Waits. Several fibers
  // may call both functions; they wait for each other.
  Freed free_memory(std::uint64_t bytes);
  // The same for this number of values anywhere.
  Freed free_entries(std::uint64_t entries);
  bool is_running() const { return running_.is_locked(); }

 private:
  struct Goal {
    std::uint64_t entries;
    std::uint64_t bytes;
    bool only_mature;
    bool is_reached(const Freed& freed) const {
      return freed.entries >= entries && freed.bytes >= bytes;
    }
  };

  enum class Sparing : std::uint8_t { none, accessed };

  Freed run(const Goal& goal);
  void go_around(const Goal& goal, Sparing sparing, Freed& freed);
  void visit(std::uint64_t slot, const Goal& goal, Sparing sparing, Freed& freed);
  bool remove(std::uint64_t slot, Entry entry);
  bool is_mature(Entry entry) const;
  bool is_pinned_at(Entry entry);
  std::uint64_t value_bytes(Entry entry) const;

  fabric::Host& host_;
  const Chunk& chunk_;
  const ServerOptions& options_;
  const MemoryBook& book_;
  ContainerReader& reader_;
  FiberMutex& moving_;
  ServerStatistics& statistics_;
  SingleUpdate update_;
  FiberMutex running_;
  std::vector<bool> accessed_;  // by slot, since the hand was there
  std::uint64_t hand_ = 0;
};

}  // namespace falafel::engine
