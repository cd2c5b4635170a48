// One update of an entry after the other, for whoever goes on from the outcome of each.
#pragma once

#include "engine/server/entry_updater.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class SingleUpdate {
 public:
  explicit SingleUpdate(EntryUpdater& updater) : updater_(updater) {}

  // Waits. A fiber that was cancelled in here leaves its update under way: the next call waits for that, and
  // has to be for the same one, unless finish() comes before.
  UpdateOutcome execute(const EntryUpdate& update) {
    if (!is_under_way_) updater_.submit(update);
    is_under_way_ = true;
    const auto outcome = updater_.next();
    FALAFEL_ASSERT(outcome && outcome->update.slot == update.slot, "slot {}", update.slot);
    is_under_way_ = false;
    return *outcome;
  }
  // Waits for what is under way, whatever comes of it.
  void finish() {
    if (is_under_way_) updater_.next();
    is_under_way_ = false;
  }

 private:
  EntryUpdater& updater_;
  bool is_under_way_ = false;
};

}  // namespace falafel::engine
