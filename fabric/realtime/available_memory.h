// The amount of memory that the system can still provide.
#pragma once

#include <cstdint>
#include <optional>

namespace falafel::fabric {

// Memory that grows leaves this much to processes that cannot be refused any: the system kills one
// when there is none.
inline constexpr std::uint64_t memory_left_to_others_bytes = std::uint64_t{64} << 20U;

// Without swapping. Returns nullopt if the system does not report it.
std::optional<std::uint64_t> available_memory_bytes();
// Returns true if the system does not report it.
bool has_available_memory(std::uint64_t length_bytes);

}  // namespace falafel::fabric
