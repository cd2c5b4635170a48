// Listening for connections at a TCP port (fabric/verbs/connector.h).
#pragma once

#include <memory>

#include "fabric/fabric.h"

namespace falafel::verbs {

class Device;

// Errors: address_in_use; invalid_argument (the address is not one of this machine).
fabric::Result<std::unique_ptr<fabric::Listener>> listen_to_service(Device& device,
                                                                    const fabric::Address& address);

}  // namespace falafel::verbs
