// A key that has a value or is absent: get, set, remove, compare-and-swap, whose expected value may
// be "absent". The state is the number of the value, or `absent`.
#pragma once

#include "checkers/linearization/supply_lookahead.h"
#include "checkers/linearization/transition.h"

namespace falafel::checkers::linearization {

class KeyValueRegister {
 public:
  using Transition = linearization::Transition;
  static constexpr bool merges_unobserved_values = true;
  using Lookahead = SupplyLookahead<KeyValueRegister>;

  static void begin() {}
  static State initial() { return absent; }

  static State apply(State state, const Transition& transition) {
    switch (transition.kind) {
      case OperationKind::get: return state == transition.value ? state : impossible;
      case OperationKind::set: return transition.value;
      case OperationKind::remove: return remove(state, transition.answer);
      case OperationKind::compare_and_swap: return compare_and_swap(state, transition);
      case OperationKind::append: break;
    }
    return impossible;
  }

  static bool only_reads(const Transition& transition) {
    return transition.kind == OperationKind::get || transition.answer == Answer::not_found ||
           transition.answer == Answer::not_swapped;
  }

  // The value that an answer requires, and the value that an operation may leave behind; or `none`.
  static std::uint32_t awaited_value(const Transition& transition) {
    if (transition.answer == Answer::swapped) return transition.expected;
    const bool awaits =
        transition.kind == OperationKind::get || transition.answer == Answer::not_found;
    return awaits ? transition.value : none;
  }
  static std::uint32_t written_value(const Transition& transition) {
    return only_reads(transition) ? none : transition.value;
  }

  static std::uint64_t memory_bytes() { return 0; }

 private:
  static State remove(State state, Answer answer) {
    if (answer == Answer::deleted && state == absent) return impossible;
    if (answer == Answer::not_found && state != absent) return impossible;
    return absent;
  }

  static State compare_and_swap(State state, const Transition& transition) {
    const bool matches = state == transition.expected;
    if (transition.answer == Answer::swapped && !matches) return impossible;
    if (transition.answer == Answer::not_swapped && matches) return impossible;
    return matches ? transition.value : state;
  }
};

}  // namespace falafel::checkers::linearization
