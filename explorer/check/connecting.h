// Shared by RemoteMemory, Endpoint and Datagrams: results of the fabric as exceptions, and a
// connection to a host that may not have started yet.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "fabric/fabric.h"

namespace falafel::check {

// Throws a std::runtime_error with the fabric's message.
template <typename Value>
Value value_of(fabric::Result<Value> result, const char* call) {
  if (!result) throw std::runtime_error(fmt::format("{}: {}", call, result.error().detail));
  return std::move(*result);
}

// Waits for the server to start. Throws Disconnected (world.h) if it does not.
fabric::Connection connect_patiently(fabric::Host& host, const fabric::Address& address,
                                     const fabric::QueuePairOptions& options,
                                     const fabric::PrivateData& private_data);

}  // namespace falafel::check
