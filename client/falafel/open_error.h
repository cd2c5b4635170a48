// Reasons why a store could not be opened, so that a caller can act on them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace falafel {

enum class OpenProblem : std::uint8_t {
  invalid_options,  // an option, the name or the directory is invalid
  no_server,        // no server uses this name, or it has ended
  no_permission,    // this user may not connect
  other_version,    // the server speaks another protocol version
  refused,          // the server accepts no more clients
  out_of_memory,    // no memory on the fabric for this process
  unreachable,      // no answer in time
};
std::string_view to_string(OpenProblem problem);

struct OpenError {
  OpenProblem problem;
  std::string detail;  // the problem, the input that caused it, and the remedy
};

}  // namespace falafel
