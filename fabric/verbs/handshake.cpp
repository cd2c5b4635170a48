#include "fabric/verbs/handshake.h"

#include <fmt/format.h>

#include <algorithm>

namespace falafel::verbs {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

std::string problem_of(const HandshakeHead& head) {
  if (head.magic != handshake_magic) return "it does not speak this protocol; check the address";
  if (head.version != handshake_version) {
    return fmt::format(
        "it uses version {} of the handshake, this side {}; use the same release on "
        "both sides",
        head.version, handshake_version);
  }
  return {};
}

fabric::PrivateData private_data_of(const HandshakeBody& body) {
  const std::size_t size_bytes =
      std::min<std::size_t>(body.private_data_bytes, fabric::max_private_data_bytes);
  return {body.private_data.begin(),
          body.private_data.begin() + static_cast<std::ptrdiff_t>(size_bytes)};
}

void set_private_data(HandshakeBody& body, const fabric::PrivateData& data) {
  const std::size_t size_bytes = std::min(data.size(), fabric::max_private_data_bytes);
  std::copy_n(data.begin(), size_bytes, body.private_data.begin());
  body.private_data_bytes = static_cast<std::uint32_t>(size_bytes);
}

Result<Route> agree(const HandshakeBody& own, const HandshakeBody& other) {
  if (own.transport != other.transport) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("transport: the other side requested {}, not {}",
                                  to_string(other.transport), to_string(own.transport)));
  }
  if (own.is_ethernet != other.is_ethernet) {
    return make_error(
        ErrorCode::invalid_argument,
        "one side is on InfiniBand, the other on Ethernet (RoCE); choose devices of the "
        "same network");
  }
  return Route{.queue_pair_number = other.queue_pair_number,
               .first_sent_packet = own.first_sent_packet,
               .first_received_packet = other.first_sent_packet,
               .gid = other.gid,
               .local_identifier = other.local_identifier,
               .mtu_bytes = std::min(own.mtu_bytes, other.mtu_bytes),
               .reads_as_requester = std::min(own.reads_as_requester, other.reads_as_responder),
               .reads_as_responder = std::min(own.reads_as_responder, other.reads_as_requester)};
}

}  // namespace falafel::verbs
