// Listening for connections at a socket in the file system.
//
// Beside the socket lies a lock that its owner holds as long as it lives. Who finds a socket without an
// owner, left by a process that was killed, takes its place.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"

namespace falafel::shm {

class Device;
class Host;

// Errors: address_in_use; invalid_argument (the directory cannot be used).
fabric::Result<std::unique_ptr<fabric::Listener>> listen_to_service(Host& host, Device& device,
                                                                    std::uint16_t service);

}  // namespace falafel::shm
