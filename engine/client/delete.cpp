// DELETE: FIND, then a compare-and-swap that sets the entry's deleted bit. The entry stays in place
// because collision chains run through it; a cleanup removes it later. If the location cache has
// the key, the swap comes first, without FIND.
#include "engine/client/delete.h"

#include "engine/client/cached_search.h"
#include "engine/client/entry_change.h"
#include "engine/client/find.h"
#include "engine/client/pending_operation.h"

namespace falafel::engine {
namespace {

class DeleteOperation {
 public:
  DeleteOperation(PendingOperation& operation, const HashedKey& key)
      : operation_(operation), key_(key), cached_(operation, key), change_(operation) {}

  Answer run();

 private:
  // Returns nullopt if the operation has to restart.
  std::optional<Answer> mark_deleted(const FindResult& position);
  Swap swap_deleted(std::uint64_t slot, Entry expected, std::uint64_t container_bytes);
  Answer not_found() const {
    return change_.has_removed_damaged() ? Answer::deleted : Answer::not_found;
  }

  PendingOperation& operation_;
  HashedKey key_;
  CachedSearch cached_;
  EntryChange change_;
};

Answer DeleteOperation::run() {
  std::optional<FindResult> known;
  if (cached_.location()) {
    const auto answer = change_.swap_cached(
        cached_, Answer::deleted,
        [&](const Location& location) {
          return swap_deleted(location.slot, location.entry, location.container_bytes);
        },
        known);
    if (answer) return *answer;
  }
  for (;; known.reset()) {
    const FindResult position = known ? *known : find(operation_, key_);
    std::optional<Answer> answer;
    switch (position.outcome) {
      case FindOutcome::occupied: answer = mark_deleted(position); break;
      case FindOutcome::corrupted: answer = change_.remove_damaged(position); break;
      case FindOutcome::empty:
      case FindOutcome::table_walked: return not_found();
      case FindOutcome::out_of_memory: return Answer::out_of_memory;
      case FindOutcome::timed_out: return change_.without_effect(Answer::timed_out);
      case FindOutcome::disconnected: return change_.without_effect(Answer::disconnected);
    }
    if (answer) return *answer;
    operation_.restart();
  }
}

std::optional<Answer> DeleteOperation::mark_deleted(const FindResult& position) {
  if (position.entry.is_deleted()) return not_found();
  bool was_deleted_by_another = false;
  const auto answer = change_.swap(
      position.entry, Answer::deleted,
      [&](Entry expected) {
        return swap_deleted(position.slot, expected, position.header.container_bytes());
      },
      [&](Entry word) {
        was_deleted_by_another = word.is_deleted() && !word.is_empty() && !word.is_locked();
        return !word.is_empty() && !word.is_locked() && !word.is_deleted();
      });
  return was_deleted_by_another ? not_found() : answer;
}

Swap DeleteOperation::swap_deleted(std::uint64_t slot, Entry expected,
                                   std::uint64_t container_bytes) {
  auto request = operation_.buffers().swap_entry(slot, expected, expected.with_deleted());
  const Swap result = operation_.post_swap({&request, 1}, expected);
  if (result != Swap::won) return result;
  cached_.forget();
  operation_.regions().note_freed(container_bytes);
  return result;
}

}  // namespace

DeleteResult remove(const OperationContext& context, std::span<const std::byte> key) {
  DeleteResult result;
  if (key.empty() || key.size() > max_key_bytes) {
    result.answer = Answer::invalid_key;
    return result;
  }
  PendingOperation operation(context);
  operation.begin();
  result.answer =
      DeleteOperation(operation, hashed(key, operation.session().server().hash_key)).run();
  result.statistics = operation.statistics();
  return result;
}

}  // namespace falafel::engine
