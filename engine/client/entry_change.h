// The parts that SET and DELETE share: the compare-and-swap that changes an entry, the removal of a
// damaged container in its way, and the answer if neither succeeds.
#pragma once

#include <optional>

#include "engine/client/cached_search.h"
#include "engine/client/find.h"
#include "engine/client/pending_operation.h"

namespace falafel::engine {

class EntryChange {
 public:
  explicit EntryChange(PendingOperation& operation) : operation_(operation) {}

  // Calls `attempt(expected)`, which swaps the entry, first with the entry that FIND returned. As
  // published, a lost swap is repeated with the word that it returned while `is_candidate(word)`
  // holds; hardened, it is not (restart_after_lost_compare_and_swap). Returns the answer, which is
  // `success` if the swap won, or nullopt if the operation has to restart from FIND.
  template <typename Attempt, typename IsCandidate>
  std::optional<Answer> swap(Entry expected, Answer success, const Attempt& attempt,
                             const IsCandidate& is_candidate) {
    for (;;) {
      const Swap result = attempt(expected);
      if (result == Swap::won) return success;
      if (result != Swap::lost) return failure(result);
      if (operation_.safeguards().restart_after_lost_compare_and_swap) return std::nullopt;
      expected = operation_.buffers().fetched_entry();
      if (!is_candidate(expected)) return std::nullopt;
    }
  }

  // Calls `attempt(location)`, which swaps the entry that the cache remembers. Returns the answer,
  // or nullopt if the swap is lost. `known` is then the position of the key if a look at the
  // current entry finds it; otherwise FIND has to search.
  template <typename Attempt>
  std::optional<Answer> swap_cached(CachedSearch& cached, Answer success, const Attempt& attempt,
                                    std::optional<FindResult>& known) {
    const Swap result = attempt(*cached.location());
    if (result == Swap::lost) {
      known = cached.look_again(operation_.buffers().fetched_entry());
      return std::nullopt;
    }
    if (result != Swap::won) return failure(result);
    cached.on_hit();
    return success;
  }

  // Removes the damaged container that FIND met. Returns nullopt if the operation has to restart,
  // which is the case also if the removal succeeds.
  std::optional<Answer> remove_damaged(const FindResult& damaged);

  // This operation removed a damaged container, which may have had its key.
  bool has_removed_damaged() const { return has_removed_damaged_; }
  // The answer of an operation that ends with `answer` and has not changed the entry itself.
  Answer without_effect(Answer answer) const {
    return has_removed_damaged_ ? Answer::unknown_outcome : answer;
  }

 private:
  // The answer if a swap neither won nor lost.
  Answer failure(Swap result) const {
    return result == Swap::in_doubt ? Answer::unknown_outcome
                                    : without_effect(Answer::disconnected);
  }

  PendingOperation& operation_;
  bool has_removed_damaged_ = false;
};

}  // namespace falafel::engine
