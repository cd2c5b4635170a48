// An operation as the models see it. Strings are replaced by numbers, and a model's state is a
// number too.
//
// A model is a class with these members:
//   State initial()                    before the first operation
//   State apply(State, Transition)     the next state, or `impossible` if the answer would be wrong
//   bool only_reads(Transition)        true if it never changes a state that permits it
//   bool merges_unobserved_values      constant: values that no answer depends on are equivalent
//   Lookahead                          type: excludes early what cannot lead to a correct order;
//                                      defines what else it requires of the model
//   std::uint64_t memory_bytes()       memory used by its states
#pragma once

#include <cstdint>

#include "checkers/history.h"

namespace falafel::checkers::linearization {

using State = std::uint32_t;
inline constexpr State impossible = 0xffff'ffffU;
// Stands for every state that is overwritten before a get finds it. All such states are equivalent,
// so the search continues from only one of them.
inline constexpr State unseen_state = 0xffff'fffeU;

// Numbers of values. Strings are numbered from first_value on.
inline constexpr std::uint32_t absent = 0;
inline constexpr std::uint32_t unobserved = 1;  // any value that no answer depends on
inline constexpr std::uint32_t first_value = 2;

// The lookahead's rating of an operation that could come next.
enum class Prospect : std::uint8_t {
  good,
  poor,
  unseen,  // poor, and no get can find the state it leads to
  none,    // no correct order can continue with it
};

struct Transition {
  OperationKind kind = OperationKind::get;
  Answer answer = Answer::indeterminate;
  std::uint32_t value = absent;
  std::uint32_t expected = absent;  // compare_and_swap

  friend bool operator==(const Transition&, const Transition&) = default;
};

}  // namespace falafel::checkers::linearization
