// Assertions of what must hold, checked in every build. A failure is a bug of this project and
// never caused by input. It prints the location, the condition and the state that the caller
// provides, and aborts.
#pragma once

#include <fmt/core.h>
#include <string_view>

namespace falafel::fabric {

[[noreturn, gnu::cold]] void assertion_failed(std::string_view condition, std::string_view file,
                                              int line, std::string_view state);

}  // namespace falafel::fabric

// FALAFEL_ASSERT(condition, format, arguments...): the format and arguments describe the state and
// are evaluated only when the assertion fails.
#define FALAFEL_ASSERT(condition, ...)                                                             \
  (static_cast<bool>(condition) ? static_cast<void>(0)                                             \
                                : ::falafel::fabric::assertion_failed(                             \
                                      #condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)))
