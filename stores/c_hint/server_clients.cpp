#include "stores/c_hint/server_clients.h"

#include <array>

#include "stores/bytes.h"

namespace falafel::c_hint {

// The client's container, then for each exchange the request, the reply, and the contents for the
// client's container.
stores::ServerEndsOptions server_ends_options(const Options& options) {
  constexpr std::uint32_t exchanges = 2;
  const std::uint64_t container_bytes = stores::whole_words(options.container_bytes);
  const std::uint64_t message_bytes = stores::whole_words(options.largest_message_bytes);
  const std::uint64_t exchange_bytes = 2 * message_bytes + container_bytes;
  return {.max_clients = options.max_clients,
          .exchanges = exchanges,
          .own_requests = exchanges,
          .message_bytes = options.largest_message_bytes,
          .layout = {.container_bytes = container_bytes,
                     .request_offset = container_bytes,
                     .reply_offset = container_bytes + message_bytes,
                     .own_offset = container_bytes + 2 * message_bytes,
                     .stride_bytes = exchange_bytes,
                     .block_bytes = container_bytes + exchanges * exchange_bytes},
          .acknowledge_timeout_ns = options.acknowledge_timeout_ns,
          .retry_count = options.retry_count};
}

void ServerClients::admit(fabric::ConnectionRequest& request, ServerHello hello) {
  const auto client = stores::from_bytes<ClientHello>(request.private_data());
  if (!client || client->magic != hello_magic || client->version != layout_version) {
    return stores::ServerEnds::reject(request, "not a C-Hint client of this version");
  }
  ends_.admit(request, {.client_id = client->client_id, .container_key = client->container_key},
              [&](const stores::ServerEnd& end) {
                hello.container_key = end.container->remote_key();
                return stores::to_private_data(hello);
              });
}

// Requests

bool ServerClients::is_well_formed(const RequestHeader& header, std::uint64_t length_bytes) const {
  const std::uint64_t content_bytes = std::uint64_t{header.key_bytes} + header.value_bytes;
  if (sizeof header + content_bytes != length_bytes) return false;
  if (header.container_bytes > ends_.options().layout.container_bytes) return false;
  switch (header.kind) {
    case RequestKind::set: return header.key_bytes > 0;
    case RequestKind::get:
    case RequestKind::remove: return header.key_bytes > 0 && header.value_bytes == 0;
    case RequestKind::report: return header.key_bytes == 0;
    case RequestKind::ping: return content_bytes == 0;
  }
  return false;
}

std::optional<Request> ServerClients::parse(const stores::ServerEnds::Arrival& arrival) const {
  const auto header = stores::from_bytes<RequestHeader>(arrival.message);
  if (!header || !is_well_formed(*header, arrival.message.size())) return std::nullopt;
  const auto key = arrival.message.subspan(sizeof *header, header->key_bytes);
  const auto value = arrival.message.subspan(sizeof *header + header->key_bytes);
  Request request{.connection = arrival.end->number,
                  .exchange = arrival.exchange,
                  .header = *header,
                  .key = {key.begin(), key.end()},
                  .value = {value.begin(), value.end()}};
  if (header->container_bytes > 0) {
    request.value.resize(header->container_bytes);
    arrival.end->block->read(0, request.value);
  }
  return request;
}

bool ServerClients::poll(std::optional<Request>& request) {
  std::optional<stores::ServerEnds::Arrival> arrival;
  if (!ends_.poll(arrival)) return false;
  if (!arrival) return true;
  request = parse(*arrival);
  if (!request) ends_.refuse(*arrival);
  return true;
}

// Replies

void ServerClients::reply(const Request& request, ReplyHeader header,
                          std::span<const std::byte> value) {
  stores::ServerEnd* const end = ends_.find(request.connection);
  if (end == nullptr) return;
  header.request_id = request.header.request_id;
  header.value_bytes = static_cast<std::uint32_t>(value.size());
  const std::array chain{
      ends_.reply_request(*end, request.exchange, stores::bytes_of(header), value)};
  ends_.post(*end, chain);
}

// The SEND is ordered after the WRITE, and when it arrives, the client's processor sees both.
void ServerClients::reply_by_write(const Request& request, ReplyHeader header,
                                   std::span<const std::byte> contents) {
  stores::ServerEnd* const end = ends_.find(request.connection);
  if (end == nullptr) return;
  header.request_id = request.header.request_id;
  header.container_bytes = static_cast<std::uint32_t>(contents.size());
  fabric::WorkRequest write = ends_.own_request(*end, request.exchange, contents);
  write.opcode = fabric::Opcode::write;
  write.remote = {.key = end->client_container_key, .offset = 0};
  const std::array chain{write,
                         ends_.reply_request(*end, request.exchange, stores::bytes_of(header), {})};
  ends_.post(*end, chain);
}

}  // namespace falafel::c_hint
