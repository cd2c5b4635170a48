// The messages between client and server: private data of the connection request and reply, then
// SEND and RECV. Messages about a region carry the incarnation of its grant, so the receiver
// recognizes stale ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::engine {

inline constexpr std::uint32_t hello_magic = 0x4641'4c41;
// The version of the messages. Client and server compare it when they connect, because a receiver
// drops the connection if it does not know a message.
inline constexpr std::uint32_t message_version = 3;

// Sent by the connecting side. `loopback_secret` is zero for clients; the server connects to itself
// with a number that only it knows.
struct ClientHello {
  std::uint32_t magic = hello_magic;
  std::uint32_t version = message_version;
  std::uint64_t loopback_secret = 0;
};

struct ServerHello {
  std::uint32_t magic = hello_magic;
  std::uint32_t version = message_version;
  std::uint32_t chunk_key = 0;  // permits READ of the whole chunk
  std::uint32_t table_key = 0;  // permits READ and atomics on the table
  std::uint64_t chunk_bytes = 0;
  // the server gives up on a client after this time without a heartbeat
  std::uint64_t heartbeat_timeout_ns = 0;
};
// A server whose table can grow sends this instead. Clients that do not expect the additional field
// ignore it, and refuse the superblock.
struct GrowingServerHello {
  ServerHello hello{};
  std::uint32_t later_tables_key = 0;  // permits READ and atomics on the later tables
  std::uint32_t zero = 0;
};
static_assert(sizeof(GrowingServerHello) == 40);
static_assert(sizeof(GrowingServerHello) <= fabric::max_private_data_bytes);
inline constexpr std::uint64_t shortest_heartbeat_timeout_ns = 1'000;
static_assert(sizeof(ClientHello) == 16);
static_assert(sizeof(ServerHello) == 32 && sizeof(ServerHello) <= fabric::max_private_data_bytes);

enum class MessageKind : std::uint32_t {
  // Sent by the client:
  request_region = 1,   // need; answered by grant or deny
  release_region = 2,   // region, incarnation: all requests that refer to it have completed
  heartbeat = 3,        // epoch: no operation is older than the server's request for that epoch
  goodbye = 4,          // the server may discard what is in flight
  request_cleanup = 5,  // answered by cleanup_done
  // Slots of keys that GETs have found, in a cache (engine/layout/access_report.h).
  report_accesses = 6,
  request_end = 7,       // answered by all_ended
  operations_ended = 8,  // epoch: the operations from before the server's question have ended
  // DELETEs and shorter values have freed memory since the last such message.
  report_freed = 9,
  // Sent by the server:
  grant_region = 16,        // region, incarnation, remote_key
  deny_region = 17,         // the memory is full
  ask_for_quiescence = 18,  // epoch: send a heartbeat as soon as older operations are complete
  acknowledge = 19,         // returns credits, as every message does, and nothing else
  cleanup_done = 20,        // a cleanup ran after the client's request
  return_regions = 21,      // incarnation: release all regions granted up to this one
  ask_for_end = 22,         // epoch: report when all operations that have begun have ended
  all_ended = 23,           // all clients have reported so since the request, or are fenced
};

// Clients send messages of these kinds, and the server sends the others.
constexpr bool is_sent_by_clients(MessageKind kind) { return kind < MessageKind::grant_region; }

// Why the client requests a region.
enum class RegionNeed : std::uint32_t {
  waiting = 0,    // a SET waits for it
  ahead = 1,      // the client has room left and can wait
  overwrite = 2,  // a SET waits that replaces a container with one of at most the same size
};
inline constexpr std::size_t region_need_count = 3;

// The maximum number of messages that a client may have sent without the server having confirmed
// their receipt. It equals the number of the server's receive requests per client. The last credit
// is reserved for the goodbye, so a client can always disconnect without waiting. Heartbeats leave
// more credits to messages that an operation waits for.
inline constexpr std::uint64_t message_credits = 8;
inline constexpr std::uint64_t credits_for_messages = message_credits - 1;
inline constexpr std::uint64_t credits_for_heartbeats = 5;
static_assert(
    credits_for_heartbeats > message_credits / 2,
    "the server acknowledges after half of the credits, so a heartbeat has a credit then");

struct ControlMessage {
  MessageKind kind = MessageKind::heartbeat;
  std::uint32_t region = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t epoch = 0;
  std::uint32_t remote_key = 0;
  RegionNeed need = RegionNeed::waiting;
  // from the server: number of this client's messages that it has received
  std::uint64_t received = 0;
};
inline constexpr std::uint32_t control_message_bytes = 40;
static_assert(sizeof(ControlMessage) == control_message_bytes);

// The bytes of `value` itself.
template <typename Value>
std::span<const std::byte> bytes_of(const Value& value) {
  static_assert(std::has_unique_object_representations_v<Value>);
  return std::as_bytes(std::span(&value, 1));
}

template <typename Value>
std::vector<std::byte> to_bytes(const Value& value) {
  const std::span<const std::byte> bytes = bytes_of(value);
  return {bytes.begin(), bytes.end()};
}

// Returns nullopt if there are too few bytes. Extra bytes are allowed, because a transport may pad.
template <typename Value>
std::optional<Value> from_bytes(std::span<const std::byte> bytes) {
  static_assert(std::has_unique_object_representations_v<Value>);
  if (bytes.size() < sizeof(Value)) return std::nullopt;
  Value value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace falafel::engine
