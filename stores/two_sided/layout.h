// The bytes of the two messages (3.1.1, 3.1.2), which are always sent whole. README.md has them as
// tables. They are the paper's structures as compilers for x86-64 lay them out; the request number
// takes the place of padding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "fabric/fabric.h"

namespace falafel::two_sided {

inline constexpr std::size_t most_key_bytes = 64;
inline constexpr std::size_t most_value_bytes = 256;

enum class Method : std::uint32_t {
  unknown,
  set,
  get,
  remove,
  ping,
  dump,
  reset,
  exit,
  set_option,
};

struct Request {
  std::int32_t client_id = 0;
  Method method = Method::unknown;
  std::array<std::byte, most_key_bytes> key{};
  std::array<std::byte, most_value_bytes> message{};
  std::uint64_t key_bytes = 0;
  std::uint64_t message_bytes = 0;
  std::int32_t connection_closed = 0;
  // Counts the requests of a client, so that a response tells which one it answers, and so does a
  // request that is sent again. Zero in the paper.
  std::uint32_t request_number = 0;
};
static_assert(sizeof(Request) == 352);
static_assert(offsetof(Request, method) == 4);
static_assert(offsetof(Request, key) == 8);
static_assert(offsetof(Request, message) == 72);
static_assert(offsetof(Request, key_bytes) == 328);
static_assert(offsetof(Request, message_bytes) == 336);
static_assert(offsetof(Request, connection_closed) == 344);
static_assert(offsetof(Request, request_number) == 348);

enum class ResponseCode : std::uint32_t {
  ok,
  key_error,
  parsing_error,
  store_error,
  set_option_error,
  unknown_error,
};

struct Response {
  ResponseCode code = ResponseCode::ok;
  std::array<std::byte, most_value_bytes> message{};
  std::uint32_t request_number = 0;
  std::uint64_t message_bytes = 0;
};
static_assert(sizeof(Response) == 272);
static_assert(offsetof(Response, message) == 4);
static_assert(offsetof(Response, request_number) == 260);
static_assert(offsetof(Response, message_bytes) == 264);

// The part of the array that the length says; nothing if the sender's length exceeds it.
std::optional<std::span<const std::byte>> key_of(const Request& request);
std::optional<std::span<const std::byte>> message_of(const Request& request);
std::optional<std::span<const std::byte>> message_of(const Response& response);

// The messages that both sides exchange when they connect. On UD, the connection serves no other
// purpose.
inline constexpr std::uint32_t hello_magic = 0x5457'4f53;
inline constexpr std::uint32_t layout_version = 1;

struct ClientHello {
  std::uint32_t magic = hello_magic;
  std::uint32_t version = layout_version;
  std::uint32_t transport = 0;  // fabric::Transport
};

struct ServerHello {
  std::uint32_t magic = hello_magic;
  std::uint32_t version = layout_version;
  std::int32_t client_id = 0;
  std::uint32_t queue_pair_number = 0;  // on UD, where requests go
};
static_assert(sizeof(ServerHello) <= fabric::max_private_data_bytes);

}  // namespace falafel::two_sided
