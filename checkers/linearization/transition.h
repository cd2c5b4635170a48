// An operation on a key as the built-in models see it. Strings are replaced by numbers.
#pragma once

#include <compare>
#include <cstdint>

#include "checkers/history.h"
#include "checkers/linearization/model.h"

namespace falafel::checkers::linearization {

// Numbers of values. Strings are numbered from first_value on.
inline constexpr std::uint32_t absent = 0;
inline constexpr std::uint32_t unobserved = 1;  // any value that no answer depends on
inline constexpr std::uint32_t first_value = 2;

struct Transition {
  OperationKind kind = OperationKind::get;
  Answer answer = Answer::indeterminate;
  std::uint32_t value = absent;
  std::uint32_t expected = absent;  // compare_and_swap

  // clang-tidy mistakes the zero that the compiler compares with for a null pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Transition&, const Transition&) = default;
};

}  // namespace falafel::checkers::linearization
