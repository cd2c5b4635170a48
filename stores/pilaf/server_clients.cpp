#include "stores/pilaf/server_clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "stores/bytes.h"

namespace falafel::pilaf {
namespace {

fabric::PrivateData to_reason(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::uint64_t buffer_bytes(const Options& options) {
  return stores::whole_words(options.largest_request_bytes);
}

bool is_well_formed(const RequestHeader& header, std::uint32_t length_bytes) {
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

}  // namespace

// The buffers: those of requests, those of replies, and one for the announcement of growth.
std::uint32_t completions_per_client(const Options& options) { return 2 * options.receives + 1; }

// Members are destroyed in reverse order: the queue pair first.
struct ServerClients::Connection {
  std::uint32_t number = 0;
  std::uint64_t client_id = 0;
  std::shared_ptr<fabric::MemoryBlock> block;
  std::unique_ptr<fabric::MemoryRegion> region;
  std::uint32_t posted = 0;  // requests whose completions have not been polled
  bool is_down = false;
  bool is_announcing = false;  // the announcement has been posted
  std::unique_ptr<fabric::QueuePair> queue_pair;

  std::uint64_t id_of(std::uint32_t buffer) const { return std::uint64_t{number} << 32 | buffer; }
};

ServerClients::ServerClients(fabric::Host& host, fabric::ProtectionDomain& domain,
                             fabric::CompletionQueue& completions, const Options& options)
    : host_(host), domain_(domain), completions_(completions), options_(options) {}

ServerClients::~ServerClients() = default;

// Connecting

fabric::Result<std::unique_ptr<ServerClients::Connection>> ServerClients::make_connection() {
  const std::uint64_t size_bytes = completions_per_client(options_) * buffer_bytes(options_);
  auto connection = std::make_unique<Connection>();
  auto block = host_.allocate_memory(size_bytes);
  if (!block) return tl::unexpected(block.error());
  auto region = domain_.register_memory(*block, 0, size_bytes, {.local_write = true});
  if (!region) return tl::unexpected(region.error());
  connection->number = next_number_++;
  connection->block = std::move(*block);
  connection->region = std::move(*region);
  return connection;
}

void ServerClients::admit(fabric::ConnectionRequest& request, const ServerHello& hello) {
  const auto client = stores::from_bytes<ClientHello>(request.private_data());
  if (!client || client->magic != hello_magic || client->version != layout_version) {
    return request.reject(to_reason("not a Pilaf client of this version"));
  }
  for (const auto& [number, connection] : connections_) {
    if (connection->client_id == client->client_id) take_down(*connection);
  }
  if (connections_.size() >= options_.max_clients) {
    return request.reject(
        to_reason(fmt::format("the server has its {} connections", options_.max_clients)));
  }
  auto made = make_connection();
  if (!made) return request.reject(to_reason("the server is out of memory"));
  Connection& connection = **made;
  connection.client_id = client->client_id;
  auto accepted = request.accept({.protection_domain = &domain_,
                                  .send_completions = &completions_,
                                  .receive_completions = &completions_,
                                  .max_send_requests = options_.receives + 1,
                                  .max_receive_requests = options_.receives,
                                  .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
                                  .retry_count = options_.retry_count},
                                 stores::to_private_data(hello));
  if (!accepted) return;
  connection.queue_pair = std::move(*accepted);
  connections_[connection.number] = std::move(*made);
  for (std::uint32_t exchange = 0; exchange < options_.receives; ++exchange) {
    post_receive(connection, exchange);
  }
}

ServerClients::Connection* ServerClients::find(std::uint32_t number) {
  const auto found = connections_.find(number);
  return found == connections_.end() ? nullptr : found->second.get();
}

std::uint64_t ServerClients::connected() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      connections_, [](const auto& numbered) { return !numbered.second->is_down; }));
}

// Messages

void ServerClients::post_receive(Connection& connection, std::uint32_t exchange) {
  const fabric::ReceiveRequest request{
      .id = connection.id_of(exchange),
      .local = {.key = connection.region->local_key(), .offset = exchange * buffer_bytes(options_)},
      .length_bytes = options_.largest_request_bytes};
  const auto posted = connection.queue_pair->post_receive({&request, 1});
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  ++connection.posted;
}

void ServerClients::send(Connection& connection, std::uint32_t buffer, const ReplyHeader& header,
                         std::span<const std::byte> value) {
  const std::uint64_t offset = buffer * buffer_bytes(options_);
  const std::span<std::byte> bytes = connection.block->bytes().subspan(offset);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::copy_n(value.data(), value.size(), bytes.data() + sizeof header);
  fabric::WorkRequest request;
  request.id = connection.id_of(buffer);
  request.opcode = fabric::Opcode::send;
  request.length_bytes = static_cast<std::uint32_t>(sizeof header + value.size());
  request.local = {.key = connection.region->local_key(), .offset = offset};
  const auto posted = connection.queue_pair->post_send({&request, 1});
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  ++connection.posted;
}

void ServerClients::reply(const Request& request, ReplyStatus status,
                          std::span<const std::byte> value) {
  Connection* const connection = find(request.connection);
  if (connection == nullptr || connection->is_down) return;
  send(*connection, options_.receives + request.exchange,
       {.request_id = request.header.request_id,
        .status = status,
        .value_bytes = static_cast<std::uint32_t>(value.size())},
       value);
}

bool ServerClients::poll(std::optional<Request>& request) {
  std::array<fabric::WorkCompletion, 1> completion{};
  if (completions_.poll(completion) == 0) return false;
  request = handle(completion[0]);
  forget_drained();
  return true;
}

std::optional<Request> ServerClients::handle(const fabric::WorkCompletion& completion) {
  Connection* const connection = find(static_cast<std::uint32_t>(completion.id >> 32));
  FALAFEL_ASSERT(connection != nullptr, "a completion of the unknown connection {}",
                 completion.id >> 32);
  const auto buffer = static_cast<std::uint32_t>(completion.id);
  --connection->posted;
  if (completion.status != fabric::CompletionStatus::success) take_down(*connection);
  if (connection->is_down) return std::nullopt;
  if (buffer == 2 * options_.receives) {
    connection->is_announcing = false;
    return std::nullopt;
  }
  if (buffer < options_.receives) return parse(*connection, buffer, completion.length_bytes);
  post_receive(*connection, buffer - options_.receives);
  return std::nullopt;
}

std::optional<Request> ServerClients::parse(Connection& connection, std::uint32_t exchange,
                                            std::uint32_t length_bytes) {
  const std::span<const std::byte> message =
      connection.block->bytes().subspan(exchange * buffer_bytes(options_), length_bytes);
  const auto header = stores::from_bytes<RequestHeader>(message);
  if (!header || !is_well_formed(*header, length_bytes)) {
    ++malformed_requests_;
    take_down(connection);
    return std::nullopt;
  }
  const auto key = message.subspan(sizeof *header, header->key_bytes);
  const auto value = message.subspan(sizeof *header + header->key_bytes);
  return Request{.connection = connection.number,
                 .exchange = exchange,
                 .client_id = connection.client_id,
                 .header = *header,
                 .key = {key.begin(), key.end()},
                 .value = {value.begin(), value.end()}};
}

// Taking connections down

void ServerClients::take_down(Connection& connection) {
  if (std::exchange(connection.is_down, true)) return;
  connection.queue_pair->move_to_error();
}

// A client never writes to the server's memory except to receive buffers, which belong to its
// connection. So a connection that has nothing to flush can go at once.
void ServerClients::forget_drained() {
  std::erase_if(connections_, [](const auto& numbered) {
    return numbered.second->is_down && numbered.second->posted == 0;
  });
}

template <typename Condition>
void ServerClients::wait_until(const Condition& condition, std::uint64_t deadline_ns) {
  while (!condition()) {
    std::optional<Request> dropped;
    if (!poll(dropped) && !completions_.wait(deadline_ns)) return;
  }
}

void ServerClients::announce_growth(std::uint64_t deadline_ns) {
  for (const auto& [number, connection] : connections_) {
    if (connection->is_down) continue;
    connection->is_announcing = true;
    send(*connection, 2 * options_.receives, {.status = ReplyStatus::growing}, {});
  }
  // Requests that arrive from now on are dropped, so only announcements and earlier replies are
  // sent.
  const auto has_sent = [&] {
    return std::ranges::none_of(connections_, [&](const auto& numbered) {
      return !numbered.second->is_down && numbered.second->is_announcing;
    });
  };
  wait_until(has_sent, deadline_ns);
}

void ServerClients::take_all_down(std::uint64_t deadline_ns) {
  for (const auto& [number, connection] : connections_) take_down(*connection);
  forget_drained();
  wait_until([&] { return connections_.empty(); }, deadline_ns);
}

}  // namespace falafel::pilaf
