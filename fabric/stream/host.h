// A host of the fabric over sockets. It is part of the process that creates it.
#pragma once

#include <memory>

#include "fabric/realtime/host.h"
#include "fabric/stream/options.h"

namespace falafel::stream {

std::unique_ptr<fabric::RealTimeHost> create_host(const HostOptions& options);

}  // namespace falafel::stream
