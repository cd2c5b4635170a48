// The cleanup of stores with bounded walks. It removes deleted entries one at a time
// (entry_removal.h). If it stalls, it blocks only the searches that pass two entries.
//
// A pass starts at an empty slot and goes backwards, wrapping around at the start of the table,
// until it reaches that slot again. Chains end at the first empty slot, so a removal moves only
// entries that the pass has already visited. These contain no deleted entries except those that
// clients deleted since, so the pass visits each entry about once.
#pragma once

#include <cstdint>

#include "engine/server/chunk.h"
#include "engine/server/cleanup.h"
#include "engine/server/entry_removal.h"
#include "engine/server/server_inspection.h"
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
  std::uint32_t table_ = 0;  // of this pass
  std::uint64_t next_slot_ = 0;
  std::uint64_t slots_left_ = 0;  // in this pass
  // in this pass; bounds it, because clients may delete as fast as it cleans
  std::uint64_t removals_left_ = 0;
};

}  // namespace falafel::engine
