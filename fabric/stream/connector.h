// The connecting side of a message stream.
#pragma once

#include <cstdint>

#include "fabric/stream/device.h"

namespace falafel::stream {

// Waits. Errors: see fabric::Device::connect.
fabric::Result<fabric::Connection> connect_to_service(Device& device,
                                                      const fabric::Address& address,
                                                      const fabric::QueuePairOptions& options,
                                                      const fabric::PrivateData& private_data,
                                                      std::uint64_t deadline_ns);

}  // namespace falafel::stream
