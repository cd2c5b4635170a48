// The amount of memory that the system can still provide.
#pragma once

#include <cstdint>

namespace falafel::fabric {

// Memory that grows leaves this much to processes that cannot be refused any: the system kills one
// when there is none.
inline constexpr std::uint64_t memory_left_to_others_bytes = std::uint64_t{64} << 20U;

// Without swapping. Unlimited if the system does not tell.
std::uint64_t available_memory_bytes();

}  // namespace falafel::fabric
