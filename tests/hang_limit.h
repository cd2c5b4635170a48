// How long a test waits for what must happen. The limit only ends what hangs: it says nothing about
// how fast a machine has to be. A machine that other programs keep busy needs seconds for what
// takes milliseconds otherwise, so everything that is awaited has this one limit.
#pragma once

#include <chrono>
#include <cstdint>

namespace falafel {

inline constexpr std::chrono::seconds hang_limit{600};
inline constexpr std::uint64_t hang_limit_ns = std::chrono::nanoseconds(hang_limit).count();

}  // namespace falafel
