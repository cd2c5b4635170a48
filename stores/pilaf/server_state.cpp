#include "stores/pilaf/server_state.h"

#include <utility>

#include "fabric/cooperative_cancellation.h"
#include "stores/pilaf/layout.h"

namespace falafel::pilaf {

ServerState::ServerState(fabric::Host& host, const Options& options)
    : host_(host), options_(options), has_grown_(host.create_event()) {}

// Start and end

fabric::Result<void> ServerState::start() {
  fabric::Device& device = host_.device(0);
  incarnation_ = host_.random(0);
  domain_ = device.create_protection_domain();
  auto memory = ServerMemory::create(host_, *domain_, options_);
  if (!memory) return tl::unexpected(memory.error());
  memory_ = std::move(*memory);
  auto completions = device.create_completion_queue(
      options_.max_clients * server_ends_options(options_).completions_per_client());
  if (!completions) return tl::unexpected(completions.error());
  completions_ = std::move(*completions);
  auto listener = device.listen(options_.service);
  if (!listener) return tl::unexpected(listener.error());
  listener_ = std::move(*listener);
  clients_.emplace(host_, *domain_, *completions_, options_);
  spawn("accept", &ServerState::accept_clients);
  spawn("poll", &ServerState::poll);
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
  statistics.keys = memory_->map().keys();
  return statistics;
}

ServerInspection ServerState::inspect() const {
  HashMap& map = memory_->map();
  const std::span<const std::byte> bytes = map.memory()->bytes();
  return {.geometry = map.geometry(),
          .ways = options_.ways,
          .memory = {bytes.begin(), bytes.end()},
          .allocated = map.allocator().allocated(),
          .free_bytes = map.allocator().free_bytes(),
          .is_busy = is_busy_,
          .statistics = statistics()};
}

// Connections

ServerHello ServerState::hello() {
  const Geometry& geometry = memory_->map().geometry();
  return {.table_key = memory_->table_key(),
          .extents_key = memory_->extents_key(),
          .table_entries = geometry.table_entries,
          .extents_bytes = geometry.extents_bytes,
          .hash_seed = geometry.hash_seed,
          .incarnation = incarnation_,
          .ways = options_.ways,
          .largest_request_bytes = options_.largest_request_bytes};
}

std::unique_ptr<fabric::ConnectionRequest> ServerState::next_connection_request() {
  const fabric::CooperativeCancellation cooperative(host_);
  return listener_->accept(fabric::never_ns);
}

void ServerState::accept_clients() {
  while (true) {
    const auto request = next_connection_request();
    if (request == nullptr) return;
    while (is_growing_) has_grown_->wait(fabric::never_ns);
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
  host_.spend(fabric::Work::hash, options_.ways * request.key.size());
  switch (request.header.kind) {
    case RequestKind::ping: return clients_->reply(request, ReplyStatus::alive);
    case RequestKind::get: return serve_get(request);
    case RequestKind::put:
    case RequestKind::remove: return serve_change(request);
  }
}

void ServerState::serve_get(const Request& request) {
  const auto value = memory_->map().get(request.key);
  if (!value) return clients_->reply(request, ReplyStatus::not_found);
  clients_->reply(request, ReplyStatus::found, *value);
}

void ServerState::serve_change(const Request& request) {
  if (!options_.safeguards.request_deduplication) {
    return clients_->reply(request, change(request));
  }
  LastChange& last = last_changes_[request.client_id];
  if (last.request_id == request.header.request_id) {
    ++statistics_.requests_repeated;
  } else {
    last = {.request_id = request.header.request_id, .status = change(request)};
  }
  clients_->reply(request, last.status);
}

ReplyStatus ServerState::change(const Request& request) {
  if (request.header.kind == RequestKind::put) return put(request);
  host_.spend(fabric::Work::checksum, entry_bytes);
  return memory_->map().remove(request.key) ? ReplyStatus::deleted : ReplyStatus::not_found;
}

ReplyStatus ServerState::put(const Request& request) {
  host_.spend(fabric::Work::checksum,
              entry_bytes + extent_bytes_of(request.key.size(), request.value.size()));
  while (true) {
    switch (memory_->map().put(request.key, request.value)) {
      case PutOutcome::stored: return ReplyStatus::stored;
      case PutOutcome::table_full:
        if (!grow(Growth::table)) return ReplyStatus::out_of_memory;
        break;
      case PutOutcome::extents_full:
        if (!grow(Growth::extents)) return ReplyStatus::out_of_memory;
        break;
    }
  }
}

// The memory is prepared first, so a server that cannot grow keeps its clients.
bool ServerState::grow(Growth growth) {
  auto larger = memory_->prepare(growth);
  if (!larger) return false;
  is_growing_ = true;
  if (options_.safeguards.reset_before_growing) {
    const std::uint64_t deadline_ns = host_.now_ns() + options_.flush_timeout_ns;
    if (options_.announce == Announcement::message_first) clients_->announce_growth(deadline_ns);
    memory_->revoke();
    clients_->take_all_down(deadline_ns);
  }
  memory_->move_to(std::move(*larger));
  ++(growth == Growth::table ? statistics_.table_growths : statistics_.extents_growths);
  is_growing_ = false;
  has_grown_->notify_all();
  return true;
}

}  // namespace falafel::pilaf
