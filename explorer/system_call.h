// System calls that fail only when the machine runs out of a resource.
#pragma once

#include <cerrno>
#include <system_error>

namespace falafel::explorer {

// Throws an exception for the call with the current errno.
[[noreturn]] inline void fail_system_call(const char* name) {
  throw std::system_error(errno, std::generic_category(), name);
}

}  // namespace falafel::explorer
