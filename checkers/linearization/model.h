// The requirements of the search on a data type. States and operations are numbers, because they
// are copied and compared often.
//
// A model is a class with these members:
//   Transition                         type: an operation with its answer; ordered, and equal
//                                      transitions have equal effects
//   void begin()                       forgets all states; called before each search
//   State initial()                    before the first operation
//   State apply(State, Transition)     the next state, or `impossible` if the answer would be wrong
//   bool only_reads(Transition)        true if it never changes a state that permits it
//   Lookahead                          type: excludes early what cannot lead to a correct order;
//                                      defines what else it requires of the model
//   std::uint64_t memory_bytes()       memory used by its states
#pragma once

#include <cstdint>

namespace falafel::checkers::linearization {

using State = std::uint32_t;
inline constexpr State impossible = 0xffff'ffffU;
// Stands for every state that is overwritten before a get finds it. All such states are equivalent,
// so the search continues from only one of them.
inline constexpr State unseen_state = 0xffff'fffeU;

// The lookahead's rating of an operation that could come next.
enum class Prospect : std::uint8_t {
  good,
  poor,
  unseen,    // poor, and no get can find the state it leads to
  excluded,  // no correct order can continue with it
};

}  // namespace falafel::checkers::linearization
