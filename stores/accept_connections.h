// The work of the fiber with which a server accepts connections.
#pragma once

#include <functional>

#include "fabric/fabric.h"

namespace falafel::stores {

// Calls `admit` for each connection request. Returns when the calling fiber is cancelled while it
// waits for one; a fiber that is cancelled in `admit` is unwound.
void accept_connections(fabric::Host& host, fabric::Listener& listener,
                        const std::function<void(fabric::ConnectionRequest&)>& admit);

}  // namespace falafel::stores
