#include "fabric/verbs/host.h"

#include <optional>

namespace falafel::verbs {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

Host::Host(const HostOptions& options, std::unique_ptr<Network> network)
    : fabric::RealTimeHost(options.name, *network, options.spin_ns, network->descriptor_shortage()),
      network_(std::move(network)),
      memory_options_{.huge_page_bytes = options.huge_page_bytes, .numa_node = options.numa_node} {}

Host::~Host() { scheduler().unwind_all(); }

Result<std::unique_ptr<Host>> Host::create(const HostOptions& options) {
  auto network = std::make_unique<Network>(options.report_failure);
  std::unique_ptr<Host> host(new Host(options, std::move(network)));
  std::optional<fabric::Error> problem;
  for (const DeviceOptions& wanted : options.devices) {
    auto device = host->open_device(wanted);
    if (device) {
      host->devices_.push_back(std::move(*device));
      continue;
    }
    if (options.needs_all_devices) return tl::unexpected(device.error());
    host->network_->report_failure("a device is left out: " + device.error().detail);
    if (!problem) problem = device.error();
  }
  if (host->devices_.empty() && problem) return tl::unexpected(std::move(*problem));
  return host;
}

Result<std::unique_ptr<Device>> Host::open_device(const DeviceOptions& options) {
  const bool has_own = !options.own_address.empty();
  const auto address = resolve_gid(network_->reactor(), has_own ? options.own_address : name());
  if (!address) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("{}: {}", has_own ? "own_address" : "name", address.error().detail));
  }
  auto port = open_port(options, *address);
  if (!port) return tl::unexpected(port.error());
  if (!memory_options_.numa_node) memory_options_.numa_node = numa_node_of(*port->context);
  return Device::open(scheduler(), *network_, name(), std::move(*port));
}

std::string Host::obstacle_to_paging() const {
  if (memory_options_.huge_page_bytes != 0) return "huge pages are reserved from the start";
  for (const auto& device : devices_) {
    if (std::string obstacle = device->obstacle_to_paging(); !obstacle.empty()) return obstacle;
  }
  return {};
}

Result<std::shared_ptr<fabric::MemoryBlock>> Host::reserve_memory(std::uint64_t size_bytes) {
  if (!obstacle_to_paging().empty()) return allocate_memory(size_bytes);
  return reserve_block(scheduler(), size_bytes, memory_options_);
}

Result<fabric::KeptMemory> Host::keep_reserved_memory(const std::string& name,
                                                      std::uint64_t size_bytes) {
  if (!obstacle_to_paging().empty()) return keep_memory(name, size_bytes);
  return fabric::RealTimeHost::keep_reserved_memory(name, size_bytes);
}

}  // namespace falafel::verbs
