// A message between the connection managers of two hosts. As in InfiniBand, private data has a
// fixed length for each kind of message: a receiver sees what the sender gave, and zeros behind it,
// and cannot tell where they begin.
#pragma once

#include <rdma/rdma_cma.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace falafel::simulated_verbs {

struct Message {
  enum Kind : std::uint32_t {
    request,
    reply,
    ready_to_use,
    reject,
    disconnect_request,
    disconnect_reply,
    datagram_request,
    datagram_reply,
  };

  std::uint32_t kind = request;
  std::uint32_t port_space = RDMA_PS_TCP;
  std::uint32_t port = 0;  // of the listener
  std::uint32_t source_port = 0;
  std::uint32_t qp_num = 0;
  std::uint32_t psn = 0;
  std::uint32_t path_mtu = IBV_MTU_256;
  std::uint32_t responder_resources = 0;  // of the sender of the message, as the next one
  std::uint32_t initiator_depth = 0;
  std::uint32_t retry_count = 0;
  std::uint32_t rnr_retry_count = 0;
  std::uint32_t has_shared_receives = 0;
  std::uint32_t reason = 0;  // of a rejection; of a datagram_reply, 0 if it is none
  std::uint32_t qkey = 0;
  std::array<std::uint8_t, 224> private_data{};
};
static_assert(std::has_unique_object_representations_v<Message>, "the bytes must be reproducible");

// Reasons of the InfiniBand specification (12.6.7.2, 12.11.2.1).
namespace rejection {
inline constexpr std::uint32_t timeout = 4;
inline constexpr std::uint32_t invalid_service = 8;
inline constexpr std::uint32_t by_consumer = 28;
inline constexpr std::uint32_t datagrams_unsupported = 1;
inline constexpr std::uint32_t of_datagrams = 2;
}  // namespace rejection

// The room for the program's private data. Requests also carry the header of rdma_cm.
constexpr std::uint8_t private_data_bytes(std::uint32_t kind) {
  switch (kind) {
    case Message::request: return 56;
    case Message::reply: return 196;
    case Message::reject: return 148;
    case Message::datagram_request: return 180;
    case Message::datagram_reply: return 136;
    default: return 0;
  }
}

// Returns false if there is no room for it.
inline bool set_private_data(Message& message, const void* data, std::size_t length_bytes) {
  if (data == nullptr) return true;
  if (length_bytes > private_data_bytes(message.kind)) return false;
  std::memcpy(message.private_data.data(), data, length_bytes);
  return true;
}

}  // namespace falafel::simulated_verbs
