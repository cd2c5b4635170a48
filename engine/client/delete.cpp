// DELETE: FIND, then a compare-and-swap that sets the entry's deleted bit. The entry stays in place
// because collision chains run through it; a cleanup removes it later.
#include "engine/client/delete.h"

#include "engine/client/find.h"
#include "engine/client/operation.h"
#include "engine/client/repair.h"

namespace falafel::engine {
namespace {

class Deletion {
 public:
  Deletion(Operation& operation, std::span<const std::byte> key)
      : operation_(operation), key_(key) {}

  Answer run();

 private:
  // Returns nullopt if the operation has to restart.
  std::optional<Answer> mark(const FindResult& position);
  std::optional<Answer> repair(const FindResult& damaged);
  Answer not_found() const { return repaired_ ? Answer::deleted : Answer::not_found; }
  // Answers for an operation that changed nothing.
  Answer without_effect(Answer answer) const {
    return repaired_ ? Answer::unknown_outcome : answer;
  }

  Operation& operation_;
  std::span<const std::byte> key_;
  bool repaired_ = false;  // removed a damaged container that may have had the key
};

Answer Deletion::run() {
  for (;;) {
    const FindResult position = find(operation_, key_);
    std::optional<Answer> answer;
    switch (position.outcome) {
      case FindOutcome::occupied: answer = mark(position); break;
      case FindOutcome::corrupted: answer = repair(position); break;
      case FindOutcome::empty:
      case FindOutcome::table_walked: return not_found();
      case FindOutcome::out_of_memory: return Answer::out_of_memory;
      case FindOutcome::timed_out: return without_effect(Answer::timed_out);
      case FindOutcome::disconnected: return without_effect(Answer::disconnected);
    }
    if (answer) return *answer;
    operation_.restart();
  }
}

std::optional<Answer> Deletion::mark(const FindResult& position) {
  Entry expected = position.entry;
  while (!expected.is_deleted()) {
    auto request = operation_.swap_entry(position.slot, expected, expected.with_deleted());
    switch (operation_.execute_swap({&request, 1}, expected)) {
      case Swap::won: return Answer::deleted;
      case Swap::in_doubt: return Answer::unknown_outcome;
      case Swap::not_tried: return without_effect(Answer::disconnected);
      case Swap::lost: break;
    }
    expected = operation_.swapped_entry();
    const bool may_try_again = !expected.is_empty() && !expected.is_locked();
    if (operation_.safeguards().restart_after_lost_compare_and_swap || !may_try_again) {
      return std::nullopt;
    }
  }
  return not_found();
}

std::optional<Answer> Deletion::repair(const FindResult& damaged) {
  switch (remove_damaged(operation_, damaged)) {
    case Swap::won: repaired_ = true; break;
    case Swap::lost: break;
    case Swap::in_doubt: return Answer::unknown_outcome;
    case Swap::not_tried: return without_effect(Answer::disconnected);
  }
  return std::nullopt;
}

}  // namespace

DeleteResult remove(const std::shared_ptr<Session>& session, std::span<const std::byte> key) {
  DeleteResult result;
  if (key.empty() || key.size() > max_key_bytes) {
    result.answer = Answer::invalid_key;
    return result;
  }
  Operation operation(session);
  operation.begin();
  result.answer = Deletion(operation, key).run();
  result.statistics = operation.statistics();
  return result;
}

}  // namespace falafel::engine
