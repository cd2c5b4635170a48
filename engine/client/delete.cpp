// DELETE: FIND, then compare-and-swap of the entry for itself with the deleted bit. The entry stays in
// place, for collision chains run through it; a cleanup removes it later.
#include "engine/client/delete.h"

#include "engine/client/find.h"
#include "engine/client/operation.h"
#include "engine/probes.h"

namespace falafel::engine {
namespace {

// Without an answer, it has to start over.
std::optional<Answer> mark(Operation& operation, const FindResult& position) {
  Entry expected = position.entry;
  for (;;) {
    auto request = operation.swap_entry(position.slot, expected, expected.with_deleted());
    bool posted = false;
    if (!operation.execute({&request, 1}, &posted)) {
      if (posted) operation.count(probes::outcome_unknown);
      return posted ? Answer::unknown_outcome : Answer::disconnected;
    }
    if (operation.swapped_entry() == expected) return Answer::deleted;
    ++operation.statistics().lost_compare_and_swaps;
    operation.count(probes::compare_and_swap_lost);
    expected = operation.swapped_entry();
    const bool may_try_again = !expected.is_empty() && !expected.is_locked();
    if (operation.safeguards().restart_after_lost_compare_and_swap || !may_try_again) {
      operation.restart();
      return std::nullopt;
    }
    if (expected.is_deleted()) return Answer::not_found;
  }
}

Answer look_up_and_mark(Operation& operation, std::span<const std::byte> key) {
  for (;;) {
    const FindResult position = find(operation, key);
    if (const auto answer = answer_without_entry(position.outcome)) return *answer;
    if (position.entry.is_deleted()) return Answer::not_found;
    if (const auto answer = mark(operation, position)) return *answer;
  }
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
  result.answer = look_up_and_mark(operation, key);
  result.statistics = operation.statistics();
  return result;
}

}  // namespace falafel::engine
