#include "fabric/verbs/host.h"

namespace falafel::fabric {

VerbsHost::VerbsHost(const VerbsHostOptions& options, std::unique_ptr<VerbsNetwork> network)
    : RealTimeHost(options.name, *network, options.spin_ns),
      network_(std::move(network)),
      memory_options_{.huge_page_bytes = options.huge_page_bytes, .numa_node = options.numa_node} {}

VerbsHost::~VerbsHost() { scheduler().unwind_all(); }

Result<std::unique_ptr<VerbsHost>> VerbsHost::create(const VerbsHostOptions& options) {
  auto network = std::make_unique<VerbsNetwork>(options.report_failure);
  const auto address = resolve_gid(network->reactor(), options.name);
  if (!address) {
    return make_error(ErrorCode::invalid_argument, fmt::format("name: {}", address.error().detail));
  }
  std::unique_ptr<VerbsHost> host(new VerbsHost(options, std::move(network)));
  for (const VerbsDeviceOptions& wanted : options.devices) {
    auto port = open_port(wanted, *address);
    if (!port) return tl::unexpected<Error>(port.error());
    if (!host->memory_options_.numa_node) {
      host->memory_options_.numa_node = numa_node_of(*port->context);
    }
    auto device =
        VerbsDevice::open(host->scheduler(), *host->network_, options.name, std::move(*port));
    if (!device) return tl::unexpected<Error>(device.error());
    host->devices_.push_back(std::move(*device));
  }
  return host;
}

}  // namespace falafel::fabric
