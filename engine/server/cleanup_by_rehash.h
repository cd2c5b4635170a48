// The thesis' cleanup (Behringer 3.6.2).
//
// It locks the rest of a collision chain from the first deleted entry on, and the empty entry behind it;
// hashes the live ones among them anew into the locked slots; and gives the slots their new entries, without
// locks, asked for in the reverse order. Several updates are under way at once and may overtake each other:
// a search that meets one of the locks starts over, and one that read a slot before reads it again at its end.
//
// A chain goes on round the table's end. If there is no empty entry, the cleanup stops when it comes
// round, and the whole table is locked.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/server/chunk.h"
#include "engine/server/cleanup.h"
#include "engine/server/entry_updater.h"
#include "engine/server/rebinding_counter.h"
#include "engine/server/server.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class CleanupByRehash : public Cleanup {
 public:
  CleanupByRehash(fabric::Host& host, const Chunk& chunk, const Safeguards& safeguards,
                  EntryUpdater& updater, RebindingCounter& rebindings,
                  ServerStatistics& statistics);

  // What is left in the middle stays so.
  void finish() override {}
  // The whole table is one piece.
  bool clean_piece() override;

 private:
  // A locked part of the table: from `first` on, round the table's end.
  struct Run {
    std::uint64_t first = 0;
    std::vector<Entry> entries;  // without their locks
  };

  void clean_run(std::uint64_t first);
  Run read_run(std::uint64_t first) const;
  void lock(Run& run);
  // The entries of the run behind `locked` ones that are locked already.
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
