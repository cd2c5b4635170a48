// The audit: a walk over the table that counts deleted entries, and repairs what no honest party writes.
//
// Clients may swap any entry, so whatever the table says is input. The audit looks for entries that are locked
// (the cleanup's own locks are gone when it runs), that point to memory which is not in use, or that are empty
// and have a flag. A locked entry behind which a key is in its place loses the lock; anything else becomes a
// deleted entry without a key, which searches pass and the next cleanup removes. It is never emptied: other
// keys' chains may run through it.
//
// Nobody can tell from a compare-and-swap which client it came from.
#pragma once

#include <cstdint>

#include "engine/server/chunk.h"
#include "engine/server/container_reader.h"
#include "engine/server/memory_book.h"
#include "engine/server/server.h"
#include "engine/server/single_update.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class TableAudit {
 public:
  TableAudit(fabric::Host& host, const Chunk& chunk, const Safeguards& safeguards,
             const MemoryBook& book, EntryUpdater& updater, ContainerReader& reader,
             ServerStatistics& statistics);

  // One piece of a walk, while neither the collector nor the cleanup is at work. Waits. True if the walk is
  // over. Each entry is tried once: one that somebody changes all the time is for the next walk.
  bool walk_piece();
  // By the last walk that was over.
  std::uint64_t deleted_entries() const { return deleted_entries_; }

 private:
  bool is_foreign(Entry entry) const;
  void repair(std::uint64_t slot, Entry entry);
  bool is_in_place(std::uint64_t slot, Entry entry);

  fabric::Host& host_;
  const Chunk& chunk_;
  const Safeguards& safeguards_;
  const MemoryBook& book_;
  ContainerReader& reader_;
  ServerStatistics& statistics_;
  SingleUpdate update_;
  std::uint64_t next_slot_ = 0;
  std::uint64_t counted_ = 0;
  std::uint64_t deleted_entries_ = 0;
};

}  // namespace falafel::engine
