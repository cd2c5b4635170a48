// The two ways in which functions of libibverbs report errors: some set errno, some return it.
#pragma once

#include <cerrno>
#include <cstddef>

#include "fabric/error.h"

namespace falafel::simulated_verbs {

// For functions that return a pointer.
inline std::nullptr_t fail_with(int error) {
  errno = error;
  return nullptr;
}

inline int errno_of(const fabric::Error& error) {
  switch (error.code) {
    case fabric::ErrorCode::queue_full:
    case fabric::ErrorCode::out_of_memory: return ENOMEM;
    case fabric::ErrorCode::unsupported: return EOPNOTSUPP;
    case fabric::ErrorCode::address_in_use: return EADDRINUSE;
    default: return EINVAL;
  }
}

}  // namespace falafel::simulated_verbs
