// A key-value register with compare-and-swap. The expected value may be "absent".
#pragma once

#include "checkers/linearization/key_value_register.h"
#include "checkers/linearization/supply_lookahead.h"

namespace falafel::checkers::linearization {

class CasRegister {
 public:
  using Transition = linearization::Transition;
  static constexpr bool merges_unobserved_values = true;
  using Lookahead = SupplyLookahead<CasRegister>;

  static void begin() {}
  static State initial() { return absent; }

  static State apply(State state, const Transition& transition) {
    if (transition.kind != OperationKind::compare_and_swap) {
      return KeyValueRegister::apply(state, transition);
    }
    const bool matches = state == transition.expected;
    if (transition.answer == Answer::swapped && !matches) return impossible;
    if (transition.answer == Answer::not_swapped && matches) return impossible;
    return matches ? transition.value : state;
  }

  static bool only_reads(const Transition& transition) {
    return transition.answer == Answer::not_swapped || KeyValueRegister::only_reads(transition);
  }

  static std::uint32_t awaited_value(const Transition& transition) {
    if (transition.answer == Answer::swapped) return transition.expected;
    return KeyValueRegister::awaited_value(transition);
  }
  static std::uint32_t written_value(const Transition& transition) {
    return only_reads(transition) ? none : transition.value;
  }

  static std::uint64_t memory_bytes() { return 0; }
};

}  // namespace falafel::checkers::linearization
