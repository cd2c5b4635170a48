// Listening for connections at a socket in the file system.
//
// The owner of a socket holds a lock on a file beside it as long as the owner lives. A listener
// that finds a socket without an owner, left by a process that was killed, replaces it.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"

namespace falafel::shm {

class Device;
class Host;

// Errors: address_in_use; invalid_argument (the directory is not usable); access_denied (it is not
// the directory of this user; fabric/shm/trust.h).
fabric::Result<std::unique_ptr<fabric::Listener>> listen_to_service(Host& host, Device& device,
                                                                    std::uint16_t service);

}  // namespace falafel::shm
