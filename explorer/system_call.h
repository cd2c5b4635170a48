// System calls that fail only when the machine is out of something.
#pragma once

#include <cerrno>
#include <system_error>

namespace falafel::explorer {

// Throws what errno says of the call.
[[noreturn]] inline void fail_system_call(const char* name) {
  throw std::system_error(errno, std::generic_category(), name);
}

}  // namespace falafel::explorer
