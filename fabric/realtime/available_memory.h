// The amount of memory that the system can still provide to this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace falafel::fabric {

// Memory that grows leaves this much to processes that cannot be refused any: the system kills one
// when there is none.
inline constexpr std::uint64_t memory_left_to_others_bytes = std::uint64_t{64} << 20U;

// Without swapping, and within the limits of the process's control groups. Returns nullopt if the
// system does not report it. `root` is the folder with the system's files.
std::optional<std::uint64_t> available_memory_bytes(const std::filesystem::path& root = "/");
// Returns true if the system does not report it.
bool has_available_memory(std::uint64_t length_bytes);

}  // namespace falafel::fabric
