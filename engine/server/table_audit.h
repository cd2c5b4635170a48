// The audit walks over the table, counts deleted entries, and repairs entries that no correct
// client writes.
//
// Clients may swap any entry, so the contents of the table are untrusted input. The audit looks for
// entries that are locked (the cleanup holds no locks when the audit runs), that point to memory
// not in use, or that are empty with a flag set. If a locked entry points to a container whose key
// belongs into its chain, the audit removes the lock. Any other such entry becomes a deleted entry
// without a key, which searches pass and the next cleanup removes. The audit never empties it,
// because chains of other keys may run through it.
//
// The origin of a compare-and-swap is unknown, so the audit cannot blame a client.
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

  // Audits one part of the table. Neither the collector nor the cleanup may be active. Waits.
  // Returns true at the end of a walk. Each entry is tried once; the next walk handles an entry
  // that others keep changing.
  bool walk_piece();
  // Counted by the last complete walk.
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
