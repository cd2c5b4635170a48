// Why a store could not be opened, in terms that a caller can act on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace falafel {

enum class OpenProblem : std::uint8_t {
  invalid_options,  // an option, the name or the directory is not what it may be
  no_server,        // nobody serves under this name, or not any more
  no_permission,    // this user may not connect
  other_version,    // the server speaks another version of the protocol
  refused,          // the server is there, but takes no further client
  out_of_memory,    // this process can have no memory on the fabric
  unreachable,      // no answer in time
};
std::string_view to_string(OpenProblem problem);

struct OpenError {
  OpenProblem problem;
  std::string detail;  // what was wrong, with which input, and what to do
};

}  // namespace falafel
