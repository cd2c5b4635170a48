#include "stores/accept_connections.h"

#include <memory>

#include "fabric/cooperative_cancellation.h"

namespace falafel::stores {
namespace {

std::unique_ptr<fabric::ConnectionRequest> next_request(fabric::Host& host,
                                                        fabric::Listener& listener) {
  const fabric::CooperativeCancellation cooperative(host);
  return listener.accept(fabric::never_ns);
}

}  // namespace

void accept_connections(fabric::Host& host, fabric::Listener& listener,
                        const std::function<void(fabric::ConnectionRequest&)>& admit) {
  while (const auto request = next_request(host, listener)) admit(*request);
}

}  // namespace falafel::stores
