// The system's limit on the open files of a process. Every connection is one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace falafel::memcached_front {

// Raises the limit as far as the system permits. Returns the problem if it is too low for this
// number of connections.
std::optional<std::string> allow_open_files(std::uint32_t connections);

}  // namespace falafel::memcached_front
