// The amount of memory that the system can still provide.
#pragma once

#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace falafel::server_program {

// Returns nullopt if the system does not report it.
inline std::optional<std::uint64_t> available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string name; file >> name;) {
    std::uint64_t kibibytes = 0;
    if (name == "MemAvailable:" && file >> kibibytes) return kibibytes << 10U;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

}  // namespace falafel::server_program
