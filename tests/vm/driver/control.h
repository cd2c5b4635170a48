// How a test stops a server: a connection to a service number of its own.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"

namespace falafel::driver {

// Waits until somebody calls stop_server(). Error: that of Device::listen.
fabric::Result<void> wait_until_stopped(fabric::Host& host, std::uint16_t control_service);

// Returns whether the server has heard it.
bool stop_server(fabric::Host& host, const fabric::Address& control);

}  // namespace falafel::driver
