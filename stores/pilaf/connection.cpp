#include "stores/pilaf/connection.h"

#include <algorithm>
#include <array>

namespace falafel::pilaf {
namespace {

bool is_plausible(const ServerHello& hello) {
  return hello.magic == hello_magic && hello.version == layout_version && hello.ways > 0 &&
         hello.ways <= 3 && hello.table_entries > 0 &&
         hello.largest_request_bytes > sizeof(RequestHeader);
}

}  // namespace

// READs of entries, a message and a check are posted at once.
Connection::Connection(fabric::Host& host, const Options& options, OperationStatistics& statistics)
    : statistics_(statistics),
      domain_(host.device(0).create_protection_domain()),
      end_(host, *domain_,
           {.max_requests = entries_at_a_time + 2,
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
  const ClientHello client{.client_id = client_id};
  const auto data = connection->end_.connect(server, stores::to_private_data(client));
  if (!data) return tl::unexpected(data.error());
  const auto hello = stores::from_bytes<ServerHello>(*data);
  if (!hello || !is_plausible(*hello)) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument,
                              server.host + " is no Pilaf server of this version");
  }
  connection->server_ = *hello;
  const std::uint64_t own_bytes =
      connection->entries_offset() + std::uint64_t{entries_at_a_time} * entry_bytes;
  auto prepared = connection->end_.prepare(hello->largest_request_bytes, own_bytes);
  if (!prepared) return tl::unexpected(prepared.error());
  return connection;
}

Geometry Connection::geometry() const {
  return {.table_entries = server_.table_entries,
          .extents_bytes = server_.extents_bytes,
          .hash_seed = server_.hash_seed};
}

stores::Checksum Connection::checksum() const {
  return server_.has_keyed_checksums != 0 ? stores::Checksum::keyed(server_.incarnation)
                                          : stores::Checksum();
}

// READs

bool Connection::read_entries(std::span<const std::uint64_t> slots, std::span<Entry> entries) {
  std::array<fabric::WorkRequest, entries_at_a_time> chain;
  for (std::size_t index = 0; index < slots.size(); ++index) {
    chain[index] = end_.own_request(entries_offset() + index * entry_bytes, server_.table_key,
                                    Geometry::entry_offset(slots[index]), entry_bytes);
  }
  if (!end_.read(std::span(chain).first(slots.size()))) return false;
  const std::uint64_t read_bytes = slots.size() * entry_bytes;
  std::ranges::copy(end_.own_bytes(entries_offset(), read_bytes),
                    std::as_writable_bytes(entries).begin());
  return true;
}

bool Connection::read_extent(const ExtentPointer& pointer, std::vector<std::byte>& extent) {
  extent.clear();
  const std::uint64_t room_bytes = std::min(extent_bytes(), server_.extents_bytes);
  if (pointer.bytes > room_bytes || pointer.offset > server_.extents_bytes - pointer.bytes) {
    ++statistics_.wild_pointers;
    return true;
  }
  if (pointer.bytes == 0) return true;
  std::array chain{
      end_.own_request(0, server_.extents_key, geometry().extent_offset(pointer), pointer.bytes)};
  if (!end_.read(chain)) return false;
  const auto bytes = end_.own_bytes(0, pointer.bytes);
  extent.assign(bytes.begin(), bytes.end());
  return true;
}

// Messages

stores::Meaning Connection::take(std::span<const std::byte> message, std::uint32_t awaited_id) {
  const auto header = stores::from_bytes<ReplyHeader>(message);
  if (header && header->status == ReplyStatus::growing) return stores::Meaning::end_of_connection;
  const bool is_awaited = header && awaited_id != 0 && header->request_id == awaited_id &&
                          sizeof *header + std::uint64_t{header->value_bytes} == message.size();
  if (!is_awaited) return stores::Meaning::nothing;
  const auto value = message.subspan(sizeof *header);
  reply_ = {.status = header->status, .value = {value.begin(), value.end()}};
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

}  // namespace falafel::pilaf
