#include "fabric/verbs/host.h"

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
  const auto address = resolve_gid(network->reactor(), options.name);
  if (!address) {
    return make_error(ErrorCode::invalid_argument, fmt::format("name: {}", address.error().detail));
  }
  std::unique_ptr<Host> host(new Host(options, std::move(network)));
  for (const DeviceOptions& wanted : options.devices) {
    auto port = open_port(wanted, *address);
    if (!port) return tl::unexpected(port.error());
    if (!host->memory_options_.numa_node) {
      host->memory_options_.numa_node = numa_node_of(*port->context);
    }
    auto device = Device::open(host->scheduler(), *host->network_, options.name, std::move(*port));
    if (!device) return tl::unexpected(device.error());
    host->devices_.push_back(std::move(*device));
  }
  return host;
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
