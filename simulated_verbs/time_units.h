// Units of time in nanoseconds.
#pragma once

#include <cstdint>

namespace falafel::simulated_verbs {

inline constexpr std::uint64_t second_ns = 1'000'000'000;
inline constexpr std::uint64_t millisecond_ns = 1'000'000;
inline constexpr std::uint64_t microsecond_ns = 1'000;

}  // namespace falafel::simulated_verbs
