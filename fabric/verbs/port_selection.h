// Selects the device, port and GID of a host, or explains what is wrong with the machine.
#pragma once

#include <cstdint>
#include <optional>

#include "fabric/error.h"
#include "fabric/verbs/options.h"
#include "fabric/verbs/queue_pair.h"
#include "fabric/verbs/resources.h"

namespace falafel::verbs {

struct OpenedPort {
  ContextHandle context;
  PortIdentity identity;
  // The options and the address that selected the port.
  DeviceOptions options;
  Gid address{};
};

// `address`: the host's own, as a GID (IPv4 addresses mapped into IPv6).
fabric::Result<OpenedPort> open_port(const DeviceOptions& options, const Gid& address);

// Returns the identity that the port has now. When a link or an address has gone and come back, the
// address may have another index in the port's table of GIDs, and the subnet manager may have given
// the port another LID. Errors: unreachable (the port is not active, or lacks its address).
fabric::Result<PortIdentity> identify_again(const OpenedPort& port);

// The NUMA node of the device, if it has one.
std::optional<std::uint32_t> numa_node_of(const ibv_context& context);

}  // namespace falafel::verbs
