// Pinned values of a cache: they neither expire nor are evicted.
#pragma once

#include <cstdint>
#include <limits>

namespace falafel::engine {

// When a pinned value expires (engine/layout/expiry.h), in place of a time.
inline constexpr std::uint64_t pinned_expiry_ns = std::numeric_limits<std::uint64_t>::max();

// The time to live that pins a value, and that scans report of it. The C interface has another
// meaning for the greatest number (FALAFEL_KEEP_EXPIRY), which pins as well where it is a time.
inline constexpr std::uint64_t pinned_time_to_live_ns = pinned_expiry_ns - 1;

}  // namespace falafel::engine
