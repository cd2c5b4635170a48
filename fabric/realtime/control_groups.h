// The limits on memory of the control groups that a process is in, such as that of a container.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace falafel::fabric {

// The memory that the process can still take below the limits of its group and of the groups around
// it, in versions 1 and 2. File caches count as free, because the system drops them first. Returns
// nullopt if no group has a limit. `root` is the folder with the system's files.
std::optional<std::uint64_t> memory_left_by_control_groups(const std::filesystem::path& root);

}  // namespace falafel::fabric
