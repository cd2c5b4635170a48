#include "fabric/realtime/available_memory.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "fabric/realtime/control_groups.h"

namespace falafel::fabric {
namespace {

std::optional<std::uint64_t> memory_of_machine(const std::filesystem::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::string name;
  for (std::uint64_t kibibytes = 0; file >> name >> kibibytes; file.ignore(64, '\n')) {
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> available_memory_bytes(const std::filesystem::path& root) {
  const auto of_machine = memory_of_machine(root);
  const auto of_groups = memory_left_by_control_groups(root);
  if (!of_machine || !of_groups) return of_machine ? of_machine : of_groups;
  return std::min(*of_machine, *of_groups);
}

bool has_available_memory(std::uint64_t length_bytes) {
  const auto available_bytes = available_memory_bytes();
  return !available_bytes || length_bytes <= *available_bytes;
}

}  // namespace falafel::fabric
