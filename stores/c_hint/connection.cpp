#include "stores/c_hint/connection.h"

#include <algorithm>
#include <array>
#include <utility>

namespace falafel::c_hint {
namespace {

bool is_plausible(const ServerHello& hello) {
  return hello.magic == hello_magic && hello.version == layout_version && hello.items_bytes > 0 &&
         hello.largest_message_bytes > sizeof(ReplyHeader) && hello.container_bytes > 0;
}

}  // namespace

// Connecting

// A READ, a WRITE, a message and a check are posted at once.
Connection::Connection(fabric::Host& host, const Options& options, OperationStatistics& statistics)
    : host_(host),
      options_(options),
      statistics_(statistics),
      domain_(host.device(0).create_protection_domain()),
      end_(host, *domain_,
           {.max_requests = 4,
            .server_timeout_ns = options.server_timeout_ns,
            .check_interval_ns = options.check_interval_ns,
            .acknowledge_timeout_ns = options.acknowledge_timeout_ns,
            .retry_count = options.retry_count},
           statistics, *this) {}

fabric::Result<std::unique_ptr<Connection>> Connection::open(fabric::Host& host,
                                                             const fabric::Address& server,
                                                             const Options& options,
                                                             std::uint64_t client_id,
                                                             OperationStatistics& statistics) {
  std::unique_ptr<Connection> connection(new Connection(host, options, statistics));
  if (auto prepared = connection->prepare_container(); !prepared) {
    return tl::unexpected(prepared.error());
  }
  const ClientHello client{.client_id = client_id,
                           .container_key = connection->container_.region->remote_key(),
                           .container_bytes = options.container_bytes};
  const auto data = connection->end_.connect(server, stores::to_private_data(client));
  if (!data) return tl::unexpected(data.error());
  const auto hello = stores::from_bytes<ServerHello>(*data);
  if (!hello || !is_plausible(*hello)) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument,
                              server.host + " is no C-Hint server of this version");
  }
  connection->server_ = *hello;
  const std::uint64_t own_bytes =
      connection->report_offset() + stores::whole_words(options.container_bytes);
  auto prepared = connection->end_.prepare(hello->largest_message_bytes, own_bytes);
  if (!prepared) return tl::unexpected(prepared.error());
  return connection;
}

fabric::Result<void> Connection::prepare_container() {
  auto container = stores::RegisteredMemory::create(host_, *domain_,
                                                    stores::whole_words(options_.container_bytes),
                                                    {.local_write = true, .remote_write = true});
  if (!container) return tl::unexpected(container.error());
  container_ = std::move(*container);
  return {};
}

// READs

std::optional<std::vector<std::byte>> Connection::read(const CachedPointer& pointer) {
  const std::uint64_t room_bytes = std::min(item_bytes(), server_.items_bytes);
  if (pointer.item_bytes > room_bytes ||
      pointer.offset > server_.items_bytes - pointer.item_bytes) {
    return std::vector<std::byte>();
  }
  std::array chain{end_.own_request(0, server_.items_key, pointer.offset,
                                    static_cast<std::uint32_t>(pointer.item_bytes))};
  if (!end_.read(chain)) return std::nullopt;
  const auto bytes = end_.own_bytes(0, pointer.item_bytes);
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

// Messages

bool Connection::is_reply(const ReplyHeader& header, std::uint64_t length_bytes) const {
  return sizeof header + std::uint64_t{header.value_bytes} == length_bytes &&
         header.container_bytes <= options_.container_bytes;
}

stores::Meaning Connection::take(std::span<const std::byte> message, std::uint32_t awaited_id) {
  const auto header = stores::from_bytes<ReplyHeader>(message);
  const bool is_awaited = header && awaited_id != 0 && header->request_id == awaited_id;
  if (!is_awaited || !is_reply(*header, message.size())) return stores::Meaning::nothing;
  const auto value = message.subspan(sizeof *header);
  reply_ = {.header = *header, .value = {value.begin(), value.end()}};
  if (header->container_bytes > 0) {
    reply_.value.resize(header->container_bytes);
    container_.block->read(0, reply_.value);
    statistics_.bytes_received += header->container_bytes;
  }
  return stores::Meaning::reply;
}

ExchangeOutcome Connection::exchange(const RequestHeader& header, std::span<const std::byte> key,
                                     std::span<const std::byte> value, std::uint64_t deadline_ns,
                                     Reply& reply) {
  const ExchangeOutcome outcome = end_.exchange({.request_id = header.request_id,
                                                 .header = stores::bytes_of(header),
                                                 .key = key,
                                                 .value = value},
                                                deadline_ns);
  if (outcome == ExchangeOutcome::answered) reply = std::move(reply_);
  return outcome;
}

// The notification is ordered after the WRITE, and when it arrives, the server's processor sees
// both.
ExchangeOutcome Connection::report_by_write(RequestHeader header, std::span<const std::byte> report,
                                            std::uint64_t deadline_ns, Reply& reply) {
  std::ranges::copy(report, end_.own_bytes(report_offset(), report.size()).begin());
  header.argument = report.size();
  fabric::WorkRequest write = end_.own_request(report_offset(), server_.container_key, 0,
                                               static_cast<std::uint32_t>(report.size()));
  write.opcode = fabric::Opcode::write;
  const ExchangeOutcome outcome = end_.exchange(
      {.request_id = header.request_id, .header = stores::bytes_of(header)}, deadline_ns, write);
  if (outcome == ExchangeOutcome::answered) reply = std::move(reply_);
  return outcome;
}

}  // namespace falafel::c_hint
