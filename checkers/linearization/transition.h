// What the models see of an operation: its strings are numbers. A state of a model is a number too.
//
// A model is a class with
//   State initial()                    before the first operation
//   State apply(State, Transition)     the state afterwards, or impossible if the answer is not right
//   bool only_reads(Transition)        changes no state in which its answer is right
//   bool merges_unobserved_values      constant: values that no answer depends on are all alike
//   Lookahead                          type: tells early what cannot lead to a right order, and what
//                                      it asks of the model
//   std::uint64_t memory_bytes()       what its states take, if they take any
#pragma once

#include <cstdint>

#include "checkers/history.h"

namespace falafel::checkers::linearization {

using State = std::uint32_t;
inline constexpr State impossible = 0xffff'ffffU;
// Any state that is overwritten before somebody finds it. They are all alike: the search does not have to go on
// from each of them.
inline constexpr State unseen_state = 0xffff'fffeU;

// Numbers of values. Strings are counted from first_value on.
inline constexpr std::uint32_t absent = 0;
inline constexpr std::uint32_t unobserved = 1;  // any value that no answer depends on
inline constexpr std::uint32_t first_value = 2;

// What a lookahead says of an operation that could come next.
enum class Prospect : std::uint8_t {
  good,
  poor,
  unseen,  // poor, and nobody can find the state that it leads to
  none,    // no right order can go on with it
};

struct Transition {
  OperationKind kind = OperationKind::get;
  Answer answer = Answer::indeterminate;
  std::uint32_t value = absent;
  std::uint32_t expected = absent;  // compare_and_swap

  friend bool operator==(const Transition&, const Transition&) = default;
};

}  // namespace falafel::checkers::linearization
