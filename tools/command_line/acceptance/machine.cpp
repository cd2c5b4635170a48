#include "tools/command_line/acceptance/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace falafel::acceptance {
namespace {

namespace files = std::filesystem;

constexpr const char* devices_folder = "/sys/class/infiniband";

std::string first_line(const files::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The kernel writes "4: ACTIVE".
std::string state_of(const files::path& port) {
  const std::string line = first_line(port / "state");
  const std::size_t colon = line.find(": ");
  return colon == std::string::npos ? line : line.substr(colon + 2);
}

std::string name_of_processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::vector<files::path> rdma_devices() {
  std::error_code error;
  std::vector<files::path> found;
  for (const auto& entry : files::directory_iterator(devices_folder, error))
    found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

// The kernel keeps devices without hardware in a folder of their own.
bool is_software(const files::path& device) {
  std::error_code error;
  return files::canonical(device, error).native().find("/virtual/") != std::string::npos;
}

std::string describe(const files::path& device) {
  std::string text = is_software(device) ? "software" : "hardware";
  for (const char* const name : {"hca_type", "board_id", "fw_ver"}) {
    const std::string value = first_line(device / name);
    if (!value.empty()) text += fmt::format(", {} {}", name, value);
  }
  std::error_code error;
  for (const auto& port : files::directory_iterator(device / "ports", error)) {
    text += fmt::format("; port {}: {}, {}, {}", port.path().filename().native(),
                        first_line(port.path() / "link_layer"), state_of(port.path()),
                        first_line(port.path() / "rate"));
  }
  return text;
}

std::string_view to_string(fabric::AtomicCapability capability) {
  switch (capability) {
    case fabric::AtomicCapability::none: return "none";
    case fabric::AtomicCapability::device: return "with respect to the device";
    case fabric::AtomicCapability::global: break;
  }
  return "with respect to the device and the processors";
}

}  // namespace

Facts facts_of_machine() {
  utsname system{};
  ::uname(&system);
  Facts facts{{"machine", system.nodename},
              {"kernel", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
              {"processor", name_of_processor()}};
  for (const files::path& device : rdma_devices())
    facts.emplace_back("device " + device.filename().native(), describe(device));
  return facts;
}

Facts facts_of_device(const fabric::DeviceAttributes& attributes) {
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  const auto yes_or_no = [](bool value) { return std::string(value ? "yes" : "no"); };
  return {{"atomics", std::string(to_string(attributes.atomic_capability))},
          {"masked atomics", yes_or_no(attributes.has_masked_atomics)},
          {"MTU in bytes", number(attributes.mtu_bytes)},
          {"longest message in bytes", number(attributes.max_message_bytes)},
          {"longest inlined data in bytes", number(attributes.max_inline_bytes)},
          {"requests of a queue", number(attributes.max_queue_requests)},
          {"completions of a queue", number(attributes.max_completions)},
          {"outstanding READs and atomics", number(attributes.max_outstanding_reads_and_atomics)},
          {"segments of a request", number(attributes.max_scatter_gather_entries)},
          {"shared receive queues", number(attributes.max_shared_receive_queues)},
          {"places in address order", yes_or_no(attributes.places_in_address_order)}};
}

bool has_only_software_devices() {
  const auto devices = rdma_devices();
  return !devices.empty() && std::ranges::all_of(devices, is_software);
}

}  // namespace falafel::acceptance
