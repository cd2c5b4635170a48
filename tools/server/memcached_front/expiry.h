// Times to live of memcached (exptime in protocol.txt of memcached 1.6).
#pragma once

#include <cstdint>

#include "fabric/time_units.h"

namespace falafel::memcached_front {

// How long a value lives that is stored now with this exptime; 0: forever. An exptime of more than
// 30 days is the time since 1970 at which the value expires. If it is negative or in the past, the
// value expires at once.
constexpr std::uint64_t time_to_live_ns(std::int64_t exptime, std::int64_t now_seconds) {
  constexpr std::int64_t longest_relative_seconds = 60 * 60 * 24 * 30;
  constexpr std::int64_t longest_seconds = 9'000'000'000;  // nanoseconds fit into 64 bits
  using fabric::second_ns;
  if (exptime == 0) return 0;
  const std::int64_t left = exptime > longest_relative_seconds ? exptime - now_seconds : exptime;
  if (left <= 0) return 1;
  return static_cast<std::uint64_t>(left < longest_seconds ? left : longest_seconds) * second_ns;
}

}  // namespace falafel::memcached_front
