// Requests: a header that says the lengths of the key and the value, then the key and the value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stores/bytes.h"
#include "stores/exchange/server_ends.h"

namespace falafel::stores {

// A request that the server must serve. Its end may go down meanwhile, so it has copies.
template <typename Header>
struct Request {
  RequestOrigin origin{};
  Header header{};
  std::vector<std::byte> key{};
  std::vector<std::byte> value{};
};

// Nothing: the lengths are not those of the message.
template <typename Header>
std::optional<Request<Header>> parse_request(const ServerEnds::Arrival& arrival) {
  const auto header = from_bytes<Header>(arrival.message);
  if (!header) return std::nullopt;
  const std::span<const std::byte> content = arrival.message.subspan(sizeof *header);
  const std::uint64_t content_bytes = std::uint64_t{header->key_bytes} + header->value_bytes;
  if (content_bytes != content.size()) return std::nullopt;
  const auto key = content.first(header->key_bytes);
  const auto value = content.subspan(header->key_bytes);
  return Request<Header>{.origin = arrival.origin(),
                         .header = *header,
                         .key = {key.begin(), key.end()},
                         .value = {value.begin(), value.end()}};
}

}  // namespace falafel::stores
