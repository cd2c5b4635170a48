#include "stores/c_hint/server_state.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stores/bytes.h"

namespace falafel::c_hint {

// Start and end

fabric::Result<void> ServerState::start() {
  auto items = stores::RegisteredMemory::create(host_, server_.domain(), options_.items_bytes,
                                                {.remote_read = true});
  if (!items) return tl::unexpected(items.error());
  items_ = std::move(*items);
  shard_.emplace(host_, *items_.block, backend_, options_, verifier());
  if (auto listening = server_.listen(options_.service); !listening) return listening;
  server_.start(shared_from_this(), "shard");
  return {};
}

void ServerState::stop() { server_.stop(); }

ServerStatistics ServerState::statistics() const {
  ServerStatistics statistics = statistics_;
  statistics.clients_connected = server_.ends().connected();
  statistics.malformed_requests = server_.ends().malformed_requests();
  statistics.busy_ns = server_.busy_ns();
  statistics.items = shard_->directory().descriptors().size();
  statistics.shard = shard_->statistics();
  statistics.directory = shard_->directory().statistics();
  return statistics;
}

ServerInspection ServerState::inspect() const {
  const std::span<const std::byte> bytes = items_.block->bytes();
  const Directory& directory = shard_->directory();
  return {.verifier = verifier(),
          .memory = {bytes.begin(), bytes.end()},
          .descriptors = directory.descriptors(),
          .allocated = directory.memory().allocated(),
          .waiting = directory.waiting(),
          .free_bytes = directory.memory().free_bytes(),
          .is_busy = server_.is_busy(),
          .statistics = statistics()};
}

// Connections

Verifier ServerState::verifier() const {
  if (!options_.uses_checksums()) return {.verification = Verification::versions};
  if (!options_.safeguards.keyed_checksums) return {.verification = Verification::checksum};
  return {.verification = Verification::checksum,
          .checksum = stores::Checksum::keyed(incarnation_)};
}

ServerHello ServerState::hello() const {
  return {.items_bytes = options_.items_bytes,
          .incarnation = incarnation_,
          .items_key = items_.region->remote_key(),
          .container_bytes = options_.container_bytes,
          .largest_message_bytes = options_.largest_message_bytes,
          .uses_checksums = options_.uses_checksums() ? 1U : 0U,
          .has_keyed_checksums = options_.safeguards.keyed_checksums ? 1U : 0U,
          .leases_are_absolute = options_.lease_in_reply == LeaseForm::absolute_end ? 1U : 0U};
}

void ServerState::admit(fabric::ConnectionRequest& request) {
  const auto client = stores::from_bytes<ClientHello>(request.private_data());
  if (!client || client->magic != hello_magic || client->version != layout_version) {
    return stores::ServerEnds::reject(request, "not a C-Hint client of this version");
  }
  server_.ends().admit(request,
                       {.client_id = client->client_id, .container_key = client->container_key},
                       [&](const stores::ServerEnd& end) {
                         ServerHello answer = hello();
                         answer.container_key = end.container->remote_key();
                         return stores::to_private_data(answer);
                       });
}

// Requests

bool ServerState::serve(const stores::ServerEnds::Arrival& arrival) {
  const auto request = parse(arrival, server_.ends().options().layout.container_bytes);
  if (request) serve(*request);
  return request.has_value();
}

void ServerState::serve(const Request& request) {
  ++statistics_.requests;
  host_.spend(fabric::Work::hash, request.key.size());
  ShardReply served;
  switch (request.header.kind) {
    case RequestKind::ping: break;
    case RequestKind::report: return serve_report(request);
    case RequestKind::get: served = shard_->get(request.key); break;
    case RequestKind::set:
      served = shard_->set(request.key, request.value, request.header.argument);
      break;
    case RequestKind::remove: served = shard_->remove(request.key); break;
  }
  reply(request, {.status = served.status, .pointer = served.pointer}, served.value);
}

// The reply takes the way of the report, and only as many leases as fit there.
void ServerState::serve_report(const Request& request) {
  const bool is_written = request.header.argument > 0;
  const std::size_t room_bytes =
      is_written ? options_.container_bytes : options_.largest_message_bytes - sizeof(ReplyHeader);
  auto entries = rows_from_bytes<ReportEntry>(request.value);
  entries.resize(std::min(entries.size(), room_bytes / sizeof(RenewedLease)));
  const ReportReply served = shard_->report(entries);
  const ReplyHeader header{.status = ReplyStatus::reported,
                           .budget_left_ns = served.budget_left_ns};
  const auto bytes = std::as_bytes(std::span(served.leases));
  if (is_written) return reply_by_write(request, header, bytes);
  reply(request, header, bytes);
}

// Replies

void ServerState::reply(const Request& request, ReplyHeader header,
                        std::span<const std::byte> value) {
  header.request_id = request.header.request_id;
  header.value_bytes = static_cast<std::uint32_t>(value.size());
  server_.ends().reply(request.origin, stores::bytes_of(header), value);
}

// WRITEs into the client's container first. The SEND is ordered after the WRITE, and when it
// arrives, the client's processor sees both.
void ServerState::reply_by_write(const Request& request, ReplyHeader header,
                                 std::span<const std::byte> contents) {
  stores::ServerEnds& ends = server_.ends();
  const auto& [connection, exchange, client_id] = request.origin;
  stores::ServerEnd* const end = ends.find(connection);
  if (end == nullptr) return;
  header.request_id = request.header.request_id;
  header.container_bytes = static_cast<std::uint32_t>(contents.size());
  fabric::WorkRequest write = ends.own_request(*end, exchange, contents);
  write.opcode = fabric::Opcode::write;
  write.remote = {.key = end->client_container_key, .offset = 0};
  const std::array chain{write, ends.reply_request(*end, exchange, stores::bytes_of(header), {})};
  ends.post(*end, chain);
}

}  // namespace falafel::c_hint
