// Assertions: what must hold, checked in every build. A failure is a bug of ours, never of the input:
// it prints where, what and the state that the caller adds, and aborts.
#pragma once

#include <fmt/core.h>
#include <string_view>

namespace falafel::fabric {

[[noreturn, gnu::cold]] void assertion_failed(std::string_view condition, std::string_view file,
                                              int line, std::string_view state);

}  // namespace falafel::fabric

// FALAFEL_ASSERT(condition, format, arguments...): the format and arguments tell the state; they are
// evaluated only when the assertion fails.
#define FALAFEL_ASSERT(condition, ...)                                                             \
  (static_cast<bool>(condition) ? static_cast<void>(0)                                             \
                                : ::falafel::fabric::assertion_failed(                             \
                                      #condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)))
