// Units of time, for durations in nanoseconds: 20 * fabric::millisecond_ns.
#pragma once

#include <cstdint>

namespace falafel::fabric {

inline constexpr std::uint64_t microsecond_ns = 1'000;
inline constexpr std::uint64_t millisecond_ns = 1'000 * microsecond_ns;
inline constexpr std::uint64_t second_ns = 1'000 * millisecond_ns;

}  // namespace falafel::fabric
