#include "fabric/realtime/available_memory.h"

#include <fstream>
#include <limits>
#include <string>

namespace falafel::fabric {

std::uint64_t available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  for (std::uint64_t kibibytes = 0; file >> name >> kibibytes; file.ignore(64, '\n')) {
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

}  // namespace falafel::fabric
