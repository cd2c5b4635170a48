// Errors that a caller can act on. Expected outcomes of an operation (a full queue, an unreachable
// peer) are values of these types; a broken invariant of the library aborts (fabric/assert.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace falafel::fabric {

enum class ErrorCode : std::uint8_t {
  // the request violates the contract; `detail` names the argument and the remedy
  invalid_argument,
  // the transport or the device does not support this (READ on UC, SEND over one MTU on UD)
  unsupported,
  out_of_bounds,       // a local buffer or a registration extends beyond its memory
  access_denied,       // a local buffer lacks a right that the request needs
  queue_full,          // more requests than the queue holds; poll completions first
  queue_pair_closed,   // the queue pair was closed by this host
  address_in_use,      // another listener has this service number
  connection_refused,  // there is no listener, or it rejected the request
  unreachable,         // the other host did not answer in time
  out_of_memory,       // the host cannot provide that much memory
};

std::string_view to_string(ErrorCode code);

// An error: the problem, the input that caused it, and the remedy.
struct Error {
  ErrorCode code;
  std::string detail;
};

template <typename Value>
using Result = tl::expected<Value, Error>;

// Marked cold, so that compilers move error paths away from the success path.
[[gnu::cold]] inline tl::unexpected<Error> make_error(ErrorCode code, std::string detail) {
  return tl::unexpected<Error>(Error{code, std::move(detail)});
}

}  // namespace falafel::fabric
