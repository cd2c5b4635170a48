#include "stores/c_hint/requests.h"

#include <memory>

#include "stores/bytes.h"

namespace falafel::c_hint {
namespace {

bool is_well_formed(const Request& request, std::uint64_t container_bytes) {
  const bool has_key = !request.key.empty();
  const bool has_argument = request.header.argument > 0;
  switch (request.header.kind) {
    case RequestKind::set: return has_key;
    case RequestKind::get:
    case RequestKind::remove: return has_key && request.value.empty() && !has_argument;
    case RequestKind::report: return !has_key && request.header.argument <= container_bytes;
    case RequestKind::ping: return !has_key && request.value.empty() && !has_argument;
  }
  return false;
}

}  // namespace

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

std::optional<Request> parse(const stores::ServerEnds::Arrival& arrival,
                             std::uint64_t container_bytes) {
  auto request = stores::parse_request<RequestHeader>(arrival);
  if (!request || !is_well_formed(*request, container_bytes)) return std::nullopt;
  if (request->header.kind == RequestKind::report && request->header.argument > 0) {
    request->value.resize(request->header.argument);
    const std::shared_ptr<fabric::MemoryBlock> block = arrival.end->block;
    block->read(0, request->value);  // another fiber may forget the end meanwhile
  }
  return request;
}

}  // namespace falafel::c_hint
