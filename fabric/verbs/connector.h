// Connecting to a listener. Two hosts connect over TCP: the service number is the port, and the
// host's name is resolved as usual. The TCP connection ends with the handshake.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"

namespace falafel::verbs {

class Device;

// Waits. Errors: as fabric::Device::connect.
fabric::Result<fabric::Connection> connect_to_listener(Device& device,
                                                       const fabric::Address& address,
                                                       const fabric::QueuePairOptions& options,
                                                       const fabric::PrivateData& private_data,
                                                       std::uint64_t deadline_ns);

}  // namespace falafel::verbs
