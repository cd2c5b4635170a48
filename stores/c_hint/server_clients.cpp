#include "stores/c_hint/server_clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "stores/bytes.h"

namespace falafel::c_hint {
namespace {

// Where things are in a connection's block: the client's container, then for each exchange the
// request, the reply, and the contents for the client's container.
struct Places {
  explicit Places(const Options& options)
      : container_bytes(stores::whole_words(options.container_bytes)),
        message_bytes(stores::whole_words(options.largest_message_bytes)) {}

  std::uint64_t exchange_bytes() const { return 2 * message_bytes + container_bytes; }
  std::uint64_t request(std::uint32_t exchange) const {
    return container_bytes + exchange * exchange_bytes();
  }
  std::uint64_t reply(std::uint32_t exchange) const { return request(exchange) + message_bytes; }
  std::uint64_t contents(std::uint32_t exchange) const { return reply(exchange) + message_bytes; }
  std::uint64_t block_bytes() const { return request(exchanges_per_client); }

  std::uint64_t container_bytes;
  std::uint64_t message_bytes;
};

fabric::PrivateData to_reason(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Numbers of requests within a connection: receive requests, then replies, then WRITEs.
constexpr std::uint32_t reply_number(std::uint32_t exchange) {
  return exchanges_per_client + exchange;
}
constexpr std::uint32_t write_number(std::uint32_t exchange) {
  return 2 * exchanges_per_client + exchange;
}

}  // namespace

// Members are destroyed in reverse order: the queue pair first.
struct ServerClients::Connection {
  std::uint32_t number = 0;
  ClientHello client{};
  std::shared_ptr<fabric::MemoryBlock> block;
  std::unique_ptr<fabric::MemoryRegion> buffers;
  std::unique_ptr<fabric::MemoryRegion> container;
  std::uint32_t posted = 0;  // requests whose completions have not been polled
  bool is_down = false;
  std::unique_ptr<fabric::QueuePair> queue_pair;

  std::uint64_t id_of(std::uint32_t request) const { return std::uint64_t{number} << 32 | request; }
};

ServerClients::ServerClients(fabric::Host& host, fabric::ProtectionDomain& domain,
                             fabric::CompletionQueue& completions, const Options& options)
    : host_(host), domain_(domain), completions_(completions), options_(options) {}

ServerClients::~ServerClients() = default;

// Connecting

fabric::Result<std::unique_ptr<ServerClients::Connection>> ServerClients::make_connection(
    const ClientHello& client) {
  const Places places(options_);
  auto connection = std::make_unique<Connection>();
  auto block = host_.allocate_memory(places.block_bytes());
  if (!block) return tl::unexpected(block.error());
  auto buffers =
      domain_.register_memory(*block, places.container_bytes,
                              places.block_bytes() - places.container_bytes, {.local_write = true});
  if (!buffers) return tl::unexpected(buffers.error());
  auto container = domain_.register_memory(*block, 0, places.container_bytes,
                                           {.local_write = true, .remote_write = true});
  if (!container) return tl::unexpected(container.error());
  connection->number = next_number_++;
  connection->client = client;
  connection->block = std::move(*block);
  connection->buffers = std::move(*buffers);
  connection->container = std::move(*container);
  return connection;
}

void ServerClients::admit(fabric::ConnectionRequest& request, ServerHello hello) {
  const auto client = stores::from_bytes<ClientHello>(request.private_data());
  if (!client || client->magic != hello_magic || client->version != layout_version) {
    return request.reject(to_reason("not a C-Hint client of this version"));
  }
  for (const auto& [number, connection] : connections_) {
    if (connection->client.client_id == client->client_id) take_down(*connection);
  }
  if (connections_.size() >= options_.max_clients) {
    return request.reject(
        to_reason(fmt::format("the server has its {} connections", options_.max_clients)));
  }
  auto made = make_connection(*client);
  if (!made) return request.reject(to_reason("the server is out of memory"));
  Connection& connection = **made;
  hello.container_key = connection.container->remote_key();
  auto accepted = request.accept({.protection_domain = &domain_,
                                  .send_completions = &completions_,
                                  .receive_completions = &completions_,
                                  .max_send_requests = 2 * exchanges_per_client,
                                  .max_receive_requests = exchanges_per_client,
                                  .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
                                  .retry_count = options_.retry_count},
                                 stores::to_private_data(hello));
  if (!accepted) return;
  connection.queue_pair = std::move(*accepted);
  connections_[connection.number] = std::move(*made);
  for (std::uint32_t exchange = 0; exchange < exchanges_per_client; ++exchange) {
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

// Requests and replies

void ServerClients::post_receive(Connection& connection, std::uint32_t exchange) {
  const fabric::ReceiveRequest request{.id = connection.id_of(exchange),
                                       .local = {.key = connection.buffers->local_key(),
                                                 .offset = Places(options_).request(exchange)},
                                       .length_bytes = options_.largest_message_bytes};
  const auto posted = connection.queue_pair->post_receive({&request, 1});
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  ++connection.posted;
}

void ServerClients::post(Connection& connection, std::span<const fabric::WorkRequest> chain) {
  const auto posted = connection.queue_pair->post_send(chain);
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  connection.posted += static_cast<std::uint32_t>(chain.size());
}

// The SEND of a reply, whose bytes are put into their buffer.
fabric::WorkRequest ServerClients::message(Connection& connection, std::uint32_t exchange,
                                           const ReplyHeader& header,
                                           std::span<const std::byte> value) {
  const std::uint64_t offset = Places(options_).reply(exchange);
  const std::span<std::byte> bytes = connection.block->bytes().subspan(offset);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::copy_n(value.data(), value.size(), bytes.data() + sizeof header);
  fabric::WorkRequest request;
  request.id = connection.id_of(reply_number(exchange));
  request.opcode = fabric::Opcode::send;
  request.length_bytes = static_cast<std::uint32_t>(sizeof header + value.size());
  request.local = {.key = connection.buffers->local_key(), .offset = offset};
  return request;
}

void ServerClients::reply(const Request& request, ReplyHeader header,
                          std::span<const std::byte> value) {
  Connection* const connection = find(request.connection);
  if (connection == nullptr || connection->is_down) return;
  header.request_id = request.header.request_id;
  header.value_bytes = static_cast<std::uint32_t>(value.size());
  const std::array chain{message(*connection, request.exchange, header, value)};
  post(*connection, chain);
}

// The SEND is ordered after the WRITE, and when it arrives, the client's processor sees both.
void ServerClients::reply_by_write(const Request& request, ReplyHeader header,
                                   std::span<const std::byte> contents) {
  Connection* const connection = find(request.connection);
  if (connection == nullptr || connection->is_down) return;
  const std::uint64_t offset = Places(options_).contents(request.exchange);
  std::ranges::copy(contents, connection->block->bytes().subspan(offset).begin());
  header.request_id = request.header.request_id;
  header.container_bytes = static_cast<std::uint32_t>(contents.size());
  fabric::WorkRequest write;
  write.id = connection->id_of(write_number(request.exchange));
  write.opcode = fabric::Opcode::write;
  write.length_bytes = header.container_bytes;
  write.local = {.key = connection->buffers->local_key(), .offset = offset};
  write.remote = {.key = connection->client.container_key, .offset = 0};
  const std::array chain{write, message(*connection, request.exchange, header, {})};
  post(*connection, chain);
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
  const auto number = static_cast<std::uint32_t>(completion.id);
  --connection->posted;
  if (completion.status != fabric::CompletionStatus::success) take_down(*connection);
  if (connection->is_down) return std::nullopt;
  if (number < reply_number(0)) return parse(*connection, number, completion.length_bytes);
  if (number < write_number(0)) post_receive(*connection, number - reply_number(0));
  return std::nullopt;
}

bool ServerClients::is_well_formed(const RequestHeader& header, std::uint32_t length_bytes) const {
  const std::uint64_t content_bytes = std::uint64_t{header.key_bytes} + header.value_bytes;
  if (sizeof header + content_bytes != length_bytes) return false;
  if (header.container_bytes > options_.container_bytes) return false;
  switch (header.kind) {
    case RequestKind::set: return header.key_bytes > 0;
    case RequestKind::get:
    case RequestKind::remove: return header.key_bytes > 0 && header.value_bytes == 0;
    case RequestKind::report: return header.key_bytes == 0;
    case RequestKind::ping: return content_bytes == 0;
  }
  return false;
}

std::optional<Request> ServerClients::parse(Connection& connection, std::uint32_t exchange,
                                            std::uint32_t length_bytes) {
  const std::span<const std::byte> message =
      connection.block->bytes().subspan(Places(options_).request(exchange), length_bytes);
  const auto header = stores::from_bytes<RequestHeader>(message);
  if (!header || !is_well_formed(*header, length_bytes)) {
    ++malformed_requests_;
    take_down(connection);
    return std::nullopt;
  }
  const auto key = message.subspan(sizeof *header, header->key_bytes);
  const auto value = message.subspan(sizeof *header + header->key_bytes);
  Request request{.connection = connection.number,
                  .exchange = exchange,
                  .header = *header,
                  .key = {key.begin(), key.end()},
                  .value = {value.begin(), value.end()}};
  if (header->container_bytes > 0) {
    request.value.resize(header->container_bytes);
    connection.block->read(0, request.value);
  }
  return request;
}

// Taking connections down

void ServerClients::take_down(Connection& connection) {
  if (std::exchange(connection.is_down, true)) return;
  connection.queue_pair->move_to_error();
}

// What a client WRITEs may still be landing in its container, which is closed with the queue pair.
// All receive requests were flushed by then, so nothing is landing any more.
void ServerClients::forget_drained() {
  std::erase_if(connections_, [](const auto& numbered) {
    return numbered.second->is_down && numbered.second->posted == 0;
  });
}

}  // namespace falafel::c_hint
