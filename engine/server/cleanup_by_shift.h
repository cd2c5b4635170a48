// The cleanup of stores whose walks are bounded: it removes deleted entries one at a time (entry_removal.h), so
// whatever stops it blocks the searches that pass two entries, and no more.
//
// A pass begins at an empty slot and goes backwards, round the table's start, until it is there again. Chains
// end at the first empty slot, so what a removal moves has been passed already, and has no deleted entries
// among it but those of clients that came meanwhile: each is looked at about once.
#pragma once

#include <cstdint>

#include "engine/server/chunk.h"
#include "engine/server/cleanup.h"
#include "engine/server/entry_removal.h"
#include "engine/server/server.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class CleanupByShift : public Cleanup {
 public:
  CleanupByShift(fabric::Host& host, const Chunk& chunk, const Safeguards& safeguards,
                 EntryUpdater& updater, ContainerReader& reader, RebindingCounter& rebindings,
                 ServerStatistics& statistics);

  void finish() override { removal_.finish(); }
  bool clean_piece() override;

 private:
  void begin_pass();
  bool remove_at(std::uint64_t slot);
  std::uint64_t before(std::uint64_t slot) const;

  const Chunk& chunk_;
  ServerStatistics& statistics_;
  EntryRemoval removal_;
  std::uint64_t next_slot_ = 0;
  std::uint64_t slots_left_ = 0;     // of the pass
  std::uint64_t removals_left_ = 0;  // of the pass: clients may delete as fast as it cleans
};

}  // namespace falafel::engine
