#include "stores/nessie/request.h"

#include <utility>

namespace falafel::nessie {

namespace {

Bytes copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

// The answer to a change: one that was sent, and not answered, is in doubt.
Answer answer_of(const tl::expected<Message, Fate>& response) {
  if (response) return static_cast<Answer>(response->kind);
  return response.error() == Fate::not_sent ? Answer::disconnected : Answer::unknown_outcome;
}

}  // namespace

GetResult request_get(ClientState& client, std::span<const std::byte> key) {
  auto response =
      client.request({.kind = static_cast<std::uint8_t>(RequestKind::get), .key = copy_of(key)});
  if (!response) return {.answer = Answer::disconnected};
  return {.answer = static_cast<Answer>(response->kind), .value = std::move(response->value)};
}

Answer request_put(ClientState& client, std::span<const std::byte> key,
                   std::span<const std::byte> value) {
  return answer_of(client.request({.kind = static_cast<std::uint8_t>(RequestKind::put),
                                   .key = copy_of(key),
                                   .value = copy_of(value)}));
}

Answer request_remove(ClientState& client, std::span<const std::byte> key) {
  return answer_of(client.request(
      {.kind = static_cast<std::uint8_t>(RequestKind::remove), .key = copy_of(key)}));
}

}  // namespace falafel::nessie
