// The clocks that all backends in real time use.
#pragma once

#include <ctime>

#include <cstdint>

namespace falafel::fabric {

inline std::uint64_t read_clock_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

inline std::uint64_t monotonic_ns() { return read_clock_ns(CLOCK_MONOTONIC); }
inline std::uint64_t wall_clock_ns() { return read_clock_ns(CLOCK_REALTIME); }

}  // namespace falafel::fabric
