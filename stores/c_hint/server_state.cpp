#include "stores/c_hint/server_state.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <utility>

#include "stores/bytes.h"

namespace falafel::c_hint {

// Start and end

fabric::Result<void> ServerState::start() {
  auto items = stores::RegisteredMemory::create(host_, server_.domain(), options_.items_bytes,
                                                {.remote_read = true});
  if (!items) return tl::unexpected(items.error());
  items_ = std::move(*items);
  for (std::uint32_t number = 0; number < options_.shards; ++number) {
    shards_.push_back(
        std::make_unique<Shard>(host_, *items_.block, backend_, options_, verifier(), number));
  }
  if (auto listening = server_.listen(options_.service); !listening) return listening;
  if (options_.communication_threads == 0) {
    server_.start(shared_from_this(), "shard");
  } else {
    start_shards();
    server_.start(shared_from_this(), "communication", options_.communication_threads);
  }
  return {};
}

void ServerState::start_shards() {
  for (std::uint32_t number = 0; number < options_.shards; ++number) {
    threads_.push_back(std::make_unique<ShardThread>(
        host_, [this, number](ShardWork& work) { carry_out(number, work); }));
    fibers_.push_back(host_.spawn(
        {.name = "shard", .daemon = true},
        [state = shared_from_this(), thread = threads_.back().get()] { thread->run(); }));
  }
}

void ServerState::stop() {
  server_.stop();
  for (const fabric::FiberId fiber : fibers_) host_.cancel(fiber);
  fibers_.clear();
}

ServerStatistics ServerState::statistics() const {
  ServerStatistics statistics = statistics_;
  statistics.clients_connected = server_.ends().connected();
  statistics.malformed_requests = server_.ends().malformed_requests();
  statistics.busy_ns = server_.busy_ns();
  for (const auto& thread : threads_) statistics.busy_ns += thread->busy_ns();
  for (const auto& shard : shards_) {
    statistics.items += shard->directory().descriptors().size();
    statistics.shard += shard->statistics();
    statistics.directory += shard->directory().statistics();
  }
  return statistics;
}

ServerInspection ServerState::inspect() const {
  const std::span<const std::byte> bytes = items_.block->bytes();
  ServerInspection inspection;
  inspection.verifier = verifier();
  inspection.memory.assign(bytes.begin(), bytes.end());
  inspection.is_busy = server_.is_busy();
  inspection.statistics = statistics();
  for (const auto& shard : shards_) {
    const Directory& directory = shard->directory();
    inspection.descriptors.merge(std::map(directory.descriptors()));
    inspection.allocated.merge(directory.allocated());
    inspection.waiting.merge(std::multimap(directory.waiting()));
    inspection.free_bytes += directory.free_bytes();
  }
  for (const auto& thread : threads_) inspection.is_busy |= thread->is_busy();
  return inspection;
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
  auto request = parse(arrival, server_.ends().options().layout.container_bytes);
  const bool is_well_formed = request.has_value();
  if (is_well_formed) dispatch(std::move(*request));
  return is_well_formed;
}

// The shard of the key carries it out. A report visits the shards one after the other.
void ServerState::dispatch(Request request) {
  ++statistics_.requests;
  host_.spend(fabric::Work::hash, request.key.size());
  switch (request.header.kind) {
    case RequestKind::ping: return reply(request, {.status = ReplyStatus::alive}, {});
    case RequestKind::report: {
      ReportProgress report = progress_of(request);
      return hand_over(0, {.request = std::move(request), .report = std::move(report)});
    }
    case RequestKind::get:
    case RequestKind::set:
    case RequestKind::remove: break;
  }
  const std::uint32_t shard = shard_of(hash_of_key(request.key), options_.shards);
  hand_over(shard, {.request = std::move(request)});
}

// A client that connects again and again must not fill the queue of a shard.
void ServerState::hand_over(std::uint32_t shard, ShardWork work) {
  if (threads_.empty()) return carry_out(shard, work);
  const stores::ServerEndsOptions& ends = server_.ends().options();
  std::deque<ShardWork>& waiting = threads_[shard]->waiting();
  if (waiting.size() >= std::size_t{ends.max_clients} * ends.exchanges) {
    std::erase_if(waiting, [&](const ShardWork& one) {
      return server_.ends().find(one.request.origin.connection) == nullptr;
    });
  }
  threads_[shard]->push(std::move(work));
}

void ServerState::carry_out(std::uint32_t shard, ShardWork& work) {
  const auto is_busy = [](const auto& thread) { return thread->is_busy(); };
  if (std::ranges::count_if(threads_, is_busy) > 1) ++statistics_.concurrent_requests;
  const Request& request = work.request;
  ShardReply served;
  switch (request.header.kind) {
    case RequestKind::ping: return;
    case RequestKind::report: return carry_out_report(shard, work);
    case RequestKind::get: served = shards_[shard]->get(request.key); break;
    case RequestKind::set:
      served = shards_[shard]->set(request.key, request.value, request.header.argument);
      break;
    case RequestKind::remove: served = shards_[shard]->remove(request.key); break;
  }
  reply(request, {.status = served.status, .pointer = served.pointer}, served.value);
}

// Reports

// The reply takes the way of the report, and only as many leases as fit there.
ReportProgress ServerState::progress_of(const Request& request) const {
  const std::size_t room_bytes = request.header.argument > 0
                                     ? options_.container_bytes
                                     : options_.largest_message_bytes - sizeof(ReplyHeader);
  ReportProgress report{.entries = rows_from_bytes<ReportEntry>(request.value),
                        .budget_left_ns = options_.report_budget_ns};
  report.entries.resize(std::min(report.entries.size(), room_bytes / sizeof(RenewedLease)));
  for (const ReportEntry& entry : report.entries) {
    report.leases.push_back({.hash = entry.hash, .version = entry.version});
  }
  return report;
}

void ServerState::carry_out_report(std::uint32_t shard, ShardWork& work) {
  shards_[shard]->report(work.report);
  if (shard + 1 < options_.shards) return hand_over(shard + 1, std::move(work));
  const ReplyHeader header{.status = ReplyStatus::reported,
                           .budget_left_ns = work.report.budget_left_ns};
  const auto bytes = std::as_bytes(std::span(work.report.leases));
  if (work.request.header.argument > 0) return reply_by_write(work.request, header, bytes);
  reply(work.request, header, bytes);
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
