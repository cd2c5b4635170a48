// Connections are made over TCP: the service number is the port, the host's name is resolved as usual.
// Nothing of it lasts longer than the handshake.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"

namespace falafel::fabric {

class VerbsDevice;

Result<std::unique_ptr<Listener>> make_listener(VerbsDevice& device, const Address& address);

// Waits.
Result<Connection> make_connection(VerbsDevice& device, const Address& address,
                                   const QueuePairOptions& options, const PrivateData& private_data,
                                   std::uint64_t deadline_ns);

}  // namespace falafel::fabric
