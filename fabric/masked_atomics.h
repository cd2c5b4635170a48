// The results of atomics, for backends that carry them out themselves.
#pragma once

#include <cstdint>

#include "fabric/work_request.h"

namespace falafel::fabric {

// Adds the fields of two words one by one. `boundaries` has the highest bit of each field; the
// field at the upper end of the word needs none.
constexpr std::uint64_t add_fields(std::uint64_t word, std::uint64_t addend,
                                   std::uint64_t boundaries) {
  // Without the highest bits, no carry leaves a field. A highest bit is the sum of both bits and
  // the carry into it.
  return ((word & ~boundaries) + (addend & ~boundaries)) ^ ((word ^ addend) & boundaries);
}

// Returns whether the atomic writes a new word: always, unless it compares and the word differs.
constexpr bool writes_word(const WorkRequest& request, std::uint64_t word) {
  switch (request.opcode) {
    case Opcode::compare_and_swap: return word == request.compare;
    case Opcode::masked_compare_and_swap:
      return ((word ^ request.compare) & request.compare_mask) == 0;
    default: return true;
  }
}

// The word after the atomic.
constexpr std::uint64_t word_after(const WorkRequest& request, std::uint64_t word) {
  if (!writes_word(request, word)) return word;
  switch (request.opcode) {
    case Opcode::fetch_and_add: return word + request.swap_or_add;
    case Opcode::masked_fetch_and_add:
      return add_fields(word, request.swap_or_add, request.field_boundaries);
    case Opcode::masked_compare_and_swap:
      return (word & ~request.swap_mask) | (request.swap_or_add & request.swap_mask);
    default: return request.swap_or_add;
  }
}

}  // namespace falafel::fabric
