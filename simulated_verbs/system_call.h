// The entry of functions of the C library that concern descriptors.
#pragma once

#include <cerrno>
#include <cstddef>
#include <span>
#include <string_view>

#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/sockets.h"

namespace falafel::simulated_verbs {

// Otherwise the caller is not the program, or the descriptor is a real one.
inline bool is_simulated(int descriptor) {
  return running_process() != nullptr && descriptor >= Sockets::first_descriptor;
}

// A result of the kernel as the C library returns it.
template <typename Value>
Value to_library_result(SystemResult result) {
  if (result >= 0) return static_cast<Value>(result);
  errno = static_cast<int>(-result);
  return -1;
}

// Calls `body` with the descriptors of the running process.
template <typename Value, typename Body>
Value system_call(std::string_view function, const Body& body) {
  const LibraryCall call(function);
  return to_library_result<Value>(body(call.process().sockets()));
}

inline std::span<std::byte> as_buffer(void* data, std::size_t bytes) {
  return {static_cast<std::byte*>(data), bytes};
}
inline std::span<const std::byte> as_buffer(const void* data, std::size_t bytes) {
  return {static_cast<const std::byte*>(data), bytes};
}

}  // namespace falafel::simulated_verbs
