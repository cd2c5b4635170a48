#include "engine/client/entry_change.h"

#include "engine/client/repair.h"

namespace falafel::engine {

std::optional<Answer> EntryChange::remove_damaged(const FindResult& damaged) {
  const Swap result = engine::remove_damaged(operation_, damaged);
  if (result == Swap::won) has_removed_damaged_ = true;
  if (result == Swap::won || result == Swap::lost) return std::nullopt;
  return failure(result);
}

}  // namespace falafel::engine
