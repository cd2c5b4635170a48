// Executes updates of entries one at a time, for callers that depend on each outcome.
#pragma once

#include "engine/server/entry_updater.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class SingleUpdate {
 public:
  explicit SingleUpdate(EntryUpdater& updater) : updater_(updater) {}

  // Waits. If the fiber is cancelled here, its update remains in flight. The next call waits for it
  // and must be for the same slot, unless finish() is called first.
  UpdateOutcome execute(const EntryUpdate& update) {
    if (!is_under_way_) updater_.submit(update);
    is_under_way_ = true;
    const auto outcome = updater_.next();
    FALAFEL_ASSERT(outcome && outcome->update.slot == update.slot,
                   "the outcome is not that of the update of slot {}", update.slot);
    is_under_way_ = false;
    return *outcome;
  }
  // Waits for the update in flight and ignores its outcome.
  void finish() {
    if (is_under_way_) updater_.next();
    is_under_way_ = false;
  }

 private:
  EntryUpdater& updater_;
  bool is_under_way_ = false;
};

}  // namespace falafel::engine
