// The messages that two hosts exchange over TCP before their queue pairs can communicate. An offer
// goes to the listener and an answer comes back. Each consists of a head, which no version may
// change, and a body.
//
//   offset  bytes  head
//        0      8  magic
//        8      4  version of the body
//       12      4  kind: offer, acceptance or rejection
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fabric/fabric.h"
#include "fabric/verbs/queue_pair.h"

namespace falafel::verbs {

static_assert(std::endian::native == std::endian::little, "numbers travel in little endian");

inline constexpr std::uint64_t handshake_magic = 0x6c65'6661'6c61'66ff;  // "\xfffalafel"
inline constexpr std::uint32_t handshake_version = 1;

enum class HandshakeKind : std::uint32_t { offer = 1, acceptance = 2, rejection = 3 };

struct HandshakeHead {
  std::uint64_t magic = handshake_magic;
  std::uint32_t version = handshake_version;
  HandshakeKind kind = HandshakeKind::offer;
};
static_assert(sizeof(HandshakeHead) == 16);

// One end of a connection. A rejection uses only the private data, which is the reason.
struct HandshakeBody {
  Gid gid{};
  std::uint32_t queue_pair_number = 0;
  std::uint32_t first_sent_packet = 0;
  std::uint32_t mtu_bytes = 0;
  std::uint16_t local_identifier = 0;
  std::uint8_t is_ethernet = 0;
  fabric::Transport transport = fabric::Transport::reliable_connection;
  std::uint32_t reads_as_requester = 0;  // requested
  std::uint32_t reads_as_responder = 0;  // the limit
  std::uint32_t private_data_bytes = 0;
  std::uint32_t hears_close = 0;  // 1: tell this side that the other has closed
  std::array<std::byte, fabric::max_private_data_bytes> private_data{};
};
static_assert(sizeof(HandshakeBody) == 104);

struct HandshakeMessage {
  HandshakeHead head;
  HandshakeBody body;
};
static_assert(sizeof(HandshakeMessage) == 120);

// The problem with a head from the other side; empty if it is right.
std::string problem_of(const HandshakeHead& head);

fabric::PrivateData private_data_of(const HandshakeBody& body);
void set_private_data(HandshakeBody& body, const fabric::PrivateData& data);  // truncates it

// Returns how this end reaches the other and what both support, or why they cannot be connected.
fabric::Result<Route> agree(const HandshakeBody& own, const HandshakeBody& other);

}  // namespace falafel::verbs
