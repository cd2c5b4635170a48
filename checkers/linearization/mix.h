// A hash of one word whose low bits depend on all bits of the word (the finalizer of splitmix64).
#pragma once

#include <cstdint>

namespace falafel::checkers::linearization {

inline std::uint64_t mix(std::uint64_t word) {
  word = (word ^ word >> 30U) * 0xbf58476d1ce4e5b9U;
  word = (word ^ word >> 27U) * 0x94d049bb133111ebU;
  return word ^ word >> 31U;
}

}  // namespace falafel::checkers::linearization
