// The messages between client and server: private data of the connection request and reply, then
// SEND and RECV. PUT and DELETE need them, and GET in Pilaf-VO.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"

namespace falafel::pilaf {

inline constexpr std::uint32_t hello_magic = 0x5049'4c41;
inline constexpr std::uint32_t layout_version = 3;

struct ClientHello {
  std::uint32_t magic = hello_magic;
  std::uint32_t version = layout_version;
  // Random; the same in all connections of a client, so the server drops the connection that the
  // client has given up.
  std::uint64_t client_id = 0;
};

struct ServerHello {
  std::uint32_t magic = hello_magic;
  std::uint32_t version = layout_version;
  std::uint32_t table_key = 0;    // permits READ of the entries
  std::uint32_t extents_key = 0;  // permits READ of the extents
  std::uint64_t table_entries = 0;
  std::uint64_t extents_bytes = 0;
  std::uint64_t hash_seed = 0;
  // Random; a server of another incarnation has none of the contents. Also the secret of keyed
  // checksums.
  std::uint64_t incarnation = 0;
  std::uint8_t ways = 0;
  std::uint8_t has_keyed_checksums = 0;
  // Another run of the server on the same log may have lost the last changes.
  std::uint16_t run = 0;
  std::uint32_t largest_request_bytes = 0;
};
static_assert(sizeof(ClientHello) == 16);
static_assert(sizeof(ServerHello) == fabric::max_private_data_bytes);

enum class RequestKind : std::uint32_t { put = 1, remove = 2, get = 3, ping = 4 };

// Followed by the key and the value.
struct RequestHeader {
  RequestKind kind = RequestKind::ping;
  std::uint32_t request_id = 0;
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;
};
static_assert(sizeof(RequestHeader) == 16);

enum class ReplyStatus : std::uint32_t {
  stored = 1,
  deleted = 2,
  found = 3,
  not_found = 4,
  out_of_memory = 5,
  alive = 6,    // to a ping
  growing = 7,  // to nobody's request: the server is about to take the connection down
};

// Followed by the value.
struct ReplyHeader {
  std::uint32_t request_id = 0;
  ReplyStatus status = ReplyStatus::alive;
  std::uint32_t value_bytes = 0;
  std::uint32_t zero = 0;
};
static_assert(sizeof(ReplyHeader) == sizeof(RequestHeader),
              "a reply with a value fits where the request that stored it fits");

}  // namespace falafel::pilaf
