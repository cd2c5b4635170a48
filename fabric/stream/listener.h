// The listening side of message streams.
#pragma once

#include <cstdint>

#include "fabric/stream/device.h"

namespace falafel::stream {

// Errors: see fabric::Device::listen; invalid_argument (the address is none of this machine).
fabric::Result<std::unique_ptr<fabric::Listener>> listen_to_service(Device& device,
                                                                    std::uint16_t service);

}  // namespace falafel::stream
