#include "engine/client/damaged_container.h"

#include "engine/client/pending_operation.h"
#include "engine/client/repair.h"

namespace falafel::engine {

DeleteResult drop_damaged(const OperationContext& context, const DamagedContainer& damaged) {
  PendingOperation operation(context);
  operation.begin();
  DeleteResult result;
  switch (remove_damaged(
      operation,
      {.outcome = FindOutcome::corrupted, .slot = damaged.slot, .entry = damaged.entry})) {
    case Swap::won: result.answer = Answer::deleted; break;
    case Swap::lost: result.answer = Answer::not_found; break;
    case Swap::not_tried: result.answer = Answer::disconnected; break;
    case Swap::in_doubt: result.answer = Answer::unknown_outcome; break;
  }
  result.statistics = operation.statistics();
  return result;
}

}  // namespace falafel::engine
