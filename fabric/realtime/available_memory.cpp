#include "fabric/realtime/available_memory.h"

#include <fstream>
#include <string>

namespace falafel::fabric {

std::optional<std::uint64_t> available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  for (std::uint64_t kibibytes = 0; file >> name >> kibibytes; file.ignore(64, '\n')) {
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return std::nullopt;
}

bool has_available_memory(std::uint64_t length_bytes) {
  const auto available_bytes = available_memory_bytes();
  return !available_bytes || length_bytes <= *available_bytes;
}

}  // namespace falafel::fabric
