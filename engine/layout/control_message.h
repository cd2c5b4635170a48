// What client and server say to each other beside the store: while connecting (private data) and later
// by SEND and RECV. Region messages name the grant by its incarnation, so that one that is out of date
// is recognised.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "engine/layout/superblock.h"
#include "fabric/fabric.h"

namespace falafel::engine {

inline constexpr std::uint32_t hello_magic = 0x4641'4c41;

// From who connects. `loopback_secret` is zero for clients; the server connects to itself with a number
// that only it knows.
struct ClientHello {
  std::uint32_t magic = hello_magic;
  std::uint32_t version = layout_version;
  std::uint64_t loopback_secret = 0;
};

struct ServerHello {
  std::uint32_t magic = hello_magic;
  std::uint32_t version = layout_version;
  std::uint32_t chunk_key = 0;  // READ of the whole chunk
  std::uint32_t table_key = 0;  // READ and atomics on the table
  std::uint64_t chunk_bytes = 0;
  std::uint64_t heartbeat_timeout_ns = 0;  // silence after which the server gives a client up
};
static_assert(sizeof(ClientHello) == 16);
static_assert(sizeof(ServerHello) == 32 && sizeof(ServerHello) <= fabric::max_private_data_bytes);

enum class MessageKind : std::uint32_t {
  // From the client:
  request_region = 1,   // need; answered by grant or deny
  release_region = 2,   // region, incarnation: all work that refers to it has completed
  heartbeat = 3,        // epoch: no operation is older than the server's question of that epoch
  goodbye = 4,          // what is under way may be given up
  request_cleanup = 5,  // answered by cleanup_done
  // From the server:
  grant_region = 16,        // region, incarnation, remote_key
  deny_region = 17,         // the memory is full
  ask_for_quiescence = 18,  // epoch: answer by a heartbeat as soon as older operations are over
  acknowledge = 19,     // says how many messages have come, as every message does, and nothing else
  cleanup_done = 20,    // the table was cleaned since the client asked
  return_regions = 21,  // incarnation: release all regions granted up to that one
};

// What a region is wanted for.
enum class RegionNeed : std::uint32_t {
  waiting = 0,    // a SET waits for it
  ahead = 1,      // the client has room left, and can wait
  overwrite = 2,  // a SET waits that replaces a container by one that is not longer
};

// How many messages a client may have sent beyond those that the server has said it received: as many as
// the server has receive requests for. One of them is kept back for the goodbye, so that nobody waits to say
// that; heartbeats, which nobody waits for, leave more to the others.
inline constexpr std::uint64_t message_credits = 8;
inline constexpr std::uint64_t credits_for_messages = message_credits - 1;
inline constexpr std::uint64_t credits_for_heartbeats = 5;
static_assert(credits_for_heartbeats > message_credits / 2,
              "the server acknowledges when half are used up, so a heartbeat has a credit then");

struct ControlMessage {
  MessageKind kind = MessageKind::heartbeat;
  std::uint32_t region = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t epoch = 0;
  std::uint32_t remote_key = 0;
  RegionNeed need = RegionNeed::waiting;
  std::uint64_t received = 0;  // from the server: messages of this client that it has received
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

// Empty if there are too few bytes; a transport may pad.
template <typename Value>
std::optional<Value> from_bytes(std::span<const std::byte> bytes) {
  static_assert(std::has_unique_object_representations_v<Value>);
  if (bytes.size() < sizeof(Value)) return std::nullopt;
  Value value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace falafel::engine
