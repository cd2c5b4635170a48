// The monotonic clock that all backends in real time use.
#pragma once

#include <ctime>

#include <cstdint>

namespace falafel::fabric {

inline std::uint64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace falafel::fabric
