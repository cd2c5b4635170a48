#include "stores/pilaf/server_clients.h"

#include <array>

#include "stores/bytes.h"

namespace falafel::pilaf {
namespace {

bool is_well_formed(const RequestHeader& header, std::uint64_t length_bytes) {
  const std::uint64_t content_bytes = std::uint64_t{header.key_bytes} + header.value_bytes;
  if (sizeof header + content_bytes != length_bytes) return false;
  switch (header.kind) {
    case RequestKind::put: return header.key_bytes > 0;
    case RequestKind::remove:
    case RequestKind::get: return header.key_bytes > 0 && header.value_bytes == 0;
    case RequestKind::ping: return content_bytes == 0;
  }
  return false;
}

std::optional<Request> parse(const stores::ServerEnds::Arrival& arrival) {
  const auto header = stores::from_bytes<RequestHeader>(arrival.message);
  if (!header || !is_well_formed(*header, arrival.message.size())) return std::nullopt;
  const auto key = arrival.message.subspan(sizeof *header, header->key_bytes);
  const auto value = arrival.message.subspan(sizeof *header + header->key_bytes);
  return Request{.connection = arrival.end->number,
                 .exchange = arrival.exchange,
                 .client_id = arrival.end->client_id,
                 .header = *header,
                 .key = {key.begin(), key.end()},
                 .value = {value.begin(), value.end()}};
}

}  // namespace

// Requests, then replies, then the announcement.
stores::ServerEndsOptions server_ends_options(const Options& options) {
  const std::uint64_t buffer_bytes = stores::whole_words(options.largest_request_bytes);
  const std::uint64_t announcement_offset = 2 * options.receives * buffer_bytes;
  return {.max_clients = options.max_clients,
          .exchanges = options.receives,
          .own_requests = 1,
          .message_bytes = options.largest_request_bytes,
          .layout = {.reply_offset = options.receives * buffer_bytes,
                     .own_offset = announcement_offset,
                     .stride_bytes = buffer_bytes,
                     .block_bytes = announcement_offset + sizeof(ReplyHeader)},
          .acknowledge_timeout_ns = options.acknowledge_timeout_ns,
          .retry_count = options.retry_count};
}

void ServerClients::admit(fabric::ConnectionRequest& request, const ServerHello& hello) {
  const auto client = stores::from_bytes<ClientHello>(request.private_data());
  if (!client || client->magic != hello_magic || client->version != layout_version) {
    return stores::ServerEnds::reject(request, "not a Pilaf client of this version");
  }
  ends_.admit(request, {.client_id = client->client_id},
              [&](const stores::ServerEnd&) { return stores::to_private_data(hello); });
}

bool ServerClients::poll(std::optional<Request>& request) {
  std::optional<stores::ServerEnds::Arrival> arrival;
  if (!ends_.poll(arrival)) return false;
  if (!arrival) return true;
  request = parse(*arrival);
  if (!request) ends_.refuse(*arrival);
  return true;
}

void ServerClients::reply(const Request& request, ReplyStatus status,
                          std::span<const std::byte> value) {
  stores::ServerEnd* const end = ends_.find(request.connection);
  if (end == nullptr) return;
  const ReplyHeader header{.request_id = request.header.request_id,
                           .status = status,
                           .value_bytes = static_cast<std::uint32_t>(value.size())};
  const std::array chain{
      ends_.reply_request(*end, request.exchange, stores::bytes_of(header), value)};
  ends_.post(*end, chain);
}

// Requests that arrive from now on are dropped, so only announcements and earlier replies are sent.
void ServerClients::announce_growth(std::uint64_t deadline_ns) {
  const ReplyHeader header{.status = ReplyStatus::growing};
  ends_.for_each([&](stores::ServerEnd& end) {
    const std::array chain{ends_.own_request(end, 0, stores::bytes_of(header))};
    ends_.post(end, chain);
  });
  ends_.wait_for_own_requests(deadline_ns);
}

}  // namespace falafel::pilaf
