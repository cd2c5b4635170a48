#include "stores/pilaf/requests.h"

#include "stores/bytes.h"

namespace falafel::pilaf {
namespace {

bool is_well_formed(const Request& request) {
  const bool has_key = !request.key.empty();
  switch (request.header.kind) {
    case RequestKind::put: return has_key;
    case RequestKind::remove:
    case RequestKind::get: return has_key && request.value.empty();
    case RequestKind::ping: return !has_key && request.value.empty();
  }
  return false;
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

std::optional<Request> parse(const stores::ServerEnds::Arrival& arrival) {
  auto request = stores::parse_request<RequestHeader>(arrival);
  if (!request || !is_well_formed(*request)) return std::nullopt;
  return request;
}

}  // namespace falafel::pilaf
