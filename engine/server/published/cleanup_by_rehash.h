// The cleanup of the thesis (Behringer 3.6.2).
//
// It locks the rest of a collision chain from the first deleted entry on, and the empty entry
// behind the chain. It then rehashes the live entries into the locked slots and submits the new,
// unlocked entries in reverse order. Several updates are in flight at once and may overtake each
// other. A search that finds one of the locks restarts, and a search that read a slot earlier
// rereads it at its end.
//
// A chain wraps around at the end of the table. If the table has no empty entry, the cleanup stops
// after one round with the whole table locked.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/safeguards.h"
#include "engine/server/chunk.h"
#include "engine/server/cleanup.h"
#include "engine/server/entry_updater.h"
#include "engine/server/rebinding_counter.h"
#include "engine/server/server_inspection.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class CleanupByRehash : public Cleanup {
 public:
  CleanupByRehash(fabric::Host& host, const Chunk& chunk, const Safeguards& safeguards,
                  EntryUpdater& updater, RebindingCounter& rebindings,
                  ServerStatistics& statistics);

  // Incomplete work remains incomplete.
  void finish() override {}
  // Cleans the whole table in one part.
  bool clean_piece() override;

 private:
  // A locked part of the table that starts at `first` and may wrap around.
  struct Run {
    std::uint64_t first = 0;
    std::vector<Entry> entries;  // the entries without their locks
  };

  void clean_run(std::uint64_t first);
  Run read_run(std::uint64_t first) const;
  void lock(Run& run);
  // Locks the entries of the run that follow the first `locked` ones.
  void lock_from(Run& run, std::size_t locked);
  void extend(Run& run) const;
  std::vector<Entry> rehash(const Run& run);
  std::size_t home_in(const Run& run, const ContainerCopy& container) const;
  void unlock(const Run& run, const std::vector<Entry>& rehashed);
  void settle_unlock(const UpdateOutcome& outcome);
  std::uint64_t slot(const Run& run, std::size_t index) const;
  bool is_complete(const Run& run) const;

  fabric::Host& host_;
  const Chunk& chunk_;
  const Safeguards& safeguards_;
  EntryUpdater& updater_;
  RebindingCounter& rebindings_;
  ServerStatistics& statistics_;
};

}  // namespace falafel::engine
