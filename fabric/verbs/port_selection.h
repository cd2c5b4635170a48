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
};

// `address`: the host's own, as a GID (IPv4 addresses mapped into IPv6).
fabric::Result<OpenedPort> open_port(const DeviceOptions& options, const Gid& address);

// The NUMA node of the device, if it has one.
std::optional<std::uint32_t> numa_node_of(const ibv_context& context);

}  // namespace falafel::verbs
