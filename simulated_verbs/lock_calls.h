// Deadlines and locks of the calling process, for the C library's functions of locks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

#include "fabric/time_units.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/threads.h"

namespace falafel::simulated_verbs {

inline constexpr std::uint64_t no_wait = 0;

inline Locks& locks_of(const LibraryCall& call) { return call.process().threads().locks(); }

// The deadline on the host's monotonic clock. Not 0, which would be no wait.
inline std::uint64_t deadline_of(fabric::Host& host, clockid_t clock, const timespec& time) {
  const std::uint64_t at_ns = static_cast<std::uint64_t>(time.tv_sec) * fabric::second_ns +
                              static_cast<std::uint64_t>(time.tv_nsec);
  const std::uint64_t now_ns = host.now_ns();
  const std::uint64_t clock_ns = clock == CLOCK_MONOTONIC ? now_ns : host.wall_clock_ns();
  return at_ns > clock_ns ? now_ns + (at_ns - clock_ns) : std::max<std::uint64_t>(now_ns, 1);
}

}  // namespace falafel::simulated_verbs
