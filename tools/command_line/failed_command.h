// How commands of the store report that they failed.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

namespace falafel::command_line {

// Prints the message and returns the exit status.
inline int fail_command(const char* command, int status, std::string_view message) {
  fmt::print(stderr, "falafel {}: {}\n", command, message);
  return status;
}

}  // namespace falafel::command_line
