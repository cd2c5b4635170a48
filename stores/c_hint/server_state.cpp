#include "stores/c_hint/server_state.h"

#include <algorithm>
#include <utility>

#include "fabric/cooperative_cancellation.h"

namespace falafel::c_hint {

// Start and end

fabric::Result<void> ServerState::prepare_memory() {
  auto memory = host_.allocate_memory(options_.items_bytes);
  if (!memory) return tl::unexpected(memory.error());
  memory_ = std::move(*memory);
  auto items = domain_->register_memory(memory_, 0, options_.items_bytes, {.remote_read = true});
  if (!items) return tl::unexpected(items.error());
  items_ = std::move(*items);
  shard_.emplace(host_, *memory_, backend_, options_);
  return {};
}

fabric::Result<void> ServerState::start() {
  fabric::Device& device = host_.device(0);
  incarnation_ = host_.random(0);
  domain_ = device.create_protection_domain();
  if (auto prepared = prepare_memory(); !prepared) return prepared;
  auto completions = device.create_completion_queue(
      options_.max_clients * server_ends_options(options_).completions_per_client());
  if (!completions) return tl::unexpected(completions.error());
  completions_ = std::move(*completions);
  auto listener = device.listen(options_.service);
  if (!listener) return tl::unexpected(listener.error());
  listener_ = std::move(*listener);
  clients_.emplace(host_, *domain_, *completions_, options_);
  spawn("accept", &ServerState::accept_clients);
  spawn("shard", &ServerState::poll);
  return {};
}

void ServerState::spawn(const char* name, void (ServerState::*body)()) {
  fibers_.push_back(host_.spawn({.name = name, .daemon = true},
                                [self = shared_from_this(), body] { (self.get()->*body)(); }));
}

void ServerState::stop() {
  for (const fabric::FiberId fiber : fibers_) host_.cancel(fiber);
  fibers_.clear();
}

ServerStatistics ServerState::statistics() const {
  ServerStatistics statistics = statistics_;
  statistics.clients_connected = clients_->connected();
  statistics.malformed_requests = clients_->malformed_requests();
  statistics.items = shard_->directory().descriptors().size();
  statistics.shard = shard_->statistics();
  statistics.directory = shard_->directory().statistics();
  return statistics;
}

ServerInspection ServerState::inspect() const {
  const std::span<const std::byte> bytes = memory_->bytes();
  const Directory& directory = shard_->directory();
  return {
      .verification = options_.uses_checksums() ? Verification::checksum : Verification::versions,
      .memory = {bytes.begin(), bytes.end()},
      .descriptors = directory.descriptors(),
      .allocated = directory.memory().allocated(),
      .waiting = directory.waiting(),
      .free_bytes = directory.memory().free_bytes(),
      .is_busy = is_busy_,
      .statistics = statistics()};
}

// Connections

ServerHello ServerState::hello() const {
  return {.items_bytes = options_.items_bytes,
          .incarnation = incarnation_,
          .items_key = items_->remote_key(),
          .container_bytes = options_.container_bytes,
          .largest_message_bytes = options_.largest_message_bytes,
          .uses_checksums = options_.uses_checksums() ? 1U : 0U,
          .leases_are_absolute = options_.lease_in_reply == LeaseForm::absolute_end ? 1U : 0U};
}

std::unique_ptr<fabric::ConnectionRequest> ServerState::next_connection_request() {
  const fabric::CooperativeCancellation cooperative(host_);
  return listener_->accept(fabric::never_ns);
}

void ServerState::accept_clients() {
  while (true) {
    const auto request = next_connection_request();
    if (request == nullptr) return;
    clients_->admit(*request, hello());
  }
}

// Requests

void ServerState::wait_for_completion() {
  const fabric::CooperativeCancellation cooperative(host_);
  completions_->wait(fabric::never_ns);
}

void ServerState::poll() {
  while (true) {
    wait_for_completion();
    if (host_.is_cancelled()) return;
    is_busy_ = true;
    const std::uint64_t begin_ns = host_.now_ns();
    std::optional<Request> request;
    clients_->poll(request);
    if (request) serve(*request);
    statistics_.busy_ns += host_.now_ns() - begin_ns;
    is_busy_ = false;
  }
}

void ServerState::serve(const Request& request) {
  ++statistics_.requests;
  host_.spend(fabric::Work::hash, request.key.size());
  ShardReply reply;
  switch (request.header.kind) {
    case RequestKind::ping: break;
    case RequestKind::report: return serve_report(request);
    case RequestKind::get: reply = shard_->get(request.key); break;
    case RequestKind::set: reply = shard_->set(request.key, request.value); break;
    case RequestKind::remove: reply = shard_->remove(request.key); break;
  }
  clients_->reply(request, {.status = reply.status, .pointer = reply.pointer}, reply.value);
}

// The reply takes the way of the report, and only as many leases as fit there.
void ServerState::serve_report(const Request& request) {
  const bool is_written = request.header.container_bytes > 0;
  const std::size_t room_bytes =
      is_written ? options_.container_bytes : options_.largest_message_bytes - sizeof(ReplyHeader);
  auto entries = rows_from_bytes<ReportEntry>(request.value);
  entries.resize(std::min(entries.size(), room_bytes / sizeof(RenewedLease)));
  const ReportReply reply = shard_->report(entries);
  const ReplyHeader header{.status = ReplyStatus::reported, .budget_left_ns = reply.budget_left_ns};
  const auto bytes = std::as_bytes(std::span(reply.leases));
  if (is_written) return clients_->reply_by_write(request, header, bytes);
  clients_->reply(request, header, bytes);
}

}  // namespace falafel::c_hint
