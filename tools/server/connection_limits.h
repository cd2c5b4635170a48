// The limits of a socket for reports. Each connection has to end within a time, and of too many the
// oldest one is closed. Silent clients then keep nobody out, neither from the reports nor, by the
// descriptors that they take, from the store.
#pragma once

#include <chrono>
#include <cstddef>

namespace falafel::server_program {

struct ConnectionLimits {
  std::size_t most = 16;
  std::chrono::milliseconds patience{5'000};
};

}  // namespace falafel::server_program
