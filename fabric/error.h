// Errors that a caller can act on. An expected outcome of an operation (a queue that is full, a peer
// that is gone) is a value of these types; a broken invariant of the library aborts (fabric/assert.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace falafel::fabric {

enum class ErrorCode : std::uint8_t {
  invalid_argument,  // the request contradicts the contract; `detail` names the argument and the remedy
  unsupported,  // the transport or the device cannot do this (READ on UC, SEND over one MTU on UD)
  out_of_bounds,       // a local buffer or a registration reaches past its memory
  access_denied,       // a local buffer lacks the right that the request needs
  queue_full,          // more requests than the queue holds; poll completions first
  queue_pair_closed,   // the queue pair was closed by this host
  address_in_use,      // another listener has this service number
  connection_refused,  // nobody listens there, or the listener rejected the request
  unreachable,         // the other host did not answer in time
  out_of_memory,       // the host cannot give that much memory
};

std::string_view to_string(ErrorCode code);

// What went wrong, with which input, and what to do about it.
struct Error {
  ErrorCode code;
  std::string detail;
};

template <typename Value>
using Result = tl::expected<Value, Error>;

// Cold: compilers then keep the ways that lead here out of the way of success.
[[gnu::cold]] inline tl::unexpected<Error> make_error(ErrorCode code, std::string detail) {
  return tl::unexpected<Error>(Error{code, std::move(detail)});
}

}  // namespace falafel::fabric
