// Connecting again to a server that is down, or that has taken the connection down.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"

namespace falafel::stores {

// Calls `open`, which makes one attempt, until a connection opens, with a pause after each attempt
// that fails. Waits. Null: none has opened by the deadline.
template <typename Open>
auto reconnect(fabric::Host& host, std::uint64_t deadline_ns, std::uint64_t pause_ns,
               const Open& open) -> typename decltype(open())::value_type {
  while (true) {
    auto opened = open();
    if (opened) return std::move(*opened);
    if (host.now_ns() >= deadline_ns) return nullptr;
    host.sleep_until(host.now_ns() + pause_ns);
  }
}

}  // namespace falafel::stores
