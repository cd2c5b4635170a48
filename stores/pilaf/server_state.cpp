#include "stores/pilaf/server_state.h"

#include <array>
#include <utility>

#include "stores/bytes.h"
#include "stores/pilaf/layout.h"

namespace falafel::pilaf {

ServerState::ServerState(fabric::Host& host, const Options& options)
    : host_(host),
      options_(options),
      incarnation_(host.random(0)),
      server_(host, server_ends_options(options)),
      has_grown_(host.create_event()) {}

// Start and end

fabric::Result<void> ServerState::start() {
  auto memory = ServerMemory::create(host_, server_.domain(), options_);
  if (!memory) return tl::unexpected(memory.error());
  memory_ = std::move(*memory);
  if (auto listening = server_.listen(options_.service); !listening) return listening;
  if (auto opened = open_log(); !opened) return opened;
  server_.start(shared_from_this(), "poll");
  if (options_.log == Logging::asynchronous) {
    flusher_ = host_.spawn({.name = "flush", .daemon = true},
                           [self = shared_from_this()] { self->log_->keep_flushing(); });
  }
  return {};
}

// The checksum of extents.
stores::Checksum ServerState::checksum() const {
  return options_.safeguards.keyed_checksums ? stores::Checksum::keyed(incarnation_)
                                             : stores::Checksum();
}

// Carries out what is in the log, before the first client is admitted.
fabric::Result<void> ServerState::open_log() {
  if (options_.log == Logging::off) {
    memory_->map().verify_by(checksum());
    return {};
  }
  auto log = UpdateLog::open(host_, options_);
  if (!log) return tl::unexpected(log.error());
  log_ = std::move(*log);
  incarnation_ = log_->incarnation();
  memory_->map().verify_by(checksum());
  const bool is_complete = log_->replay([this](const LoggedChange& change) {
    return carry_out(change) != ReplyStatus::out_of_memory;
  });
  if (is_complete) return {};
  return fabric::make_error(fabric::ErrorCode::out_of_memory,
                            "there is no memory for the contents of the log");
}

void ServerState::stop() {
  server_.stop();
  if (flusher_) host_.cancel(*flusher_);
  flusher_.reset();
}

ServerStatistics ServerState::statistics() const {
  ServerStatistics statistics = statistics_;
  statistics.clients_connected = server_.ends().connected();
  statistics.malformed_requests = server_.ends().malformed_requests();
  statistics.busy_ns = server_.busy_ns();
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
          .checksum = checksum(),
          .is_busy = server_.is_busy(),
          .log = log_ == nullptr ? LogStatistics() : log_->statistics(),
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
          .ways = static_cast<std::uint8_t>(options_.ways),
          .has_keyed_checksums = static_cast<std::uint8_t>(options_.safeguards.keyed_checksums),
          .run = static_cast<std::uint16_t>(log_ == nullptr ? 0 : log_->run()),
          .largest_request_bytes = options_.largest_request_bytes};
}

void ServerState::admit(fabric::ConnectionRequest& request) {
  while (is_growing_) has_grown_->wait(fabric::never_ns);
  const auto client = stores::from_bytes<ClientHello>(request.private_data());
  if (!client || client->magic != hello_magic || client->version != layout_version) {
    return stores::ServerEnds::reject(request, "not a Pilaf client of this version");
  }
  server_.ends().admit(request, {.client_id = client->client_id},
                       [&](const stores::ServerEnd&) { return stores::to_private_data(hello()); });
}

// Requests

bool ServerState::serve(const stores::ServerEnds::Arrival& arrival) {
  const auto request = parse(arrival);
  if (request) serve(*request);
  return request.has_value();
}

void ServerState::serve(const Request& request) {
  ++statistics_.requests;
  host_.spend(fabric::Work::hash, options_.ways * request.key.size());
  switch (request.header.kind) {
    case RequestKind::ping: return reply(request, ReplyStatus::alive);
    case RequestKind::get: return serve_get(request);
    case RequestKind::put:
    case RequestKind::remove: return serve_change(request);
  }
}

void ServerState::serve_get(const Request& request) {
  const auto value = memory_->map().get(request.key);
  if (!value) return reply(request, ReplyStatus::not_found);
  reply(request, ReplyStatus::found, *value);
}

void ServerState::serve_change(const Request& request) {
  if (!options_.safeguards.request_deduplication) {
    return reply(request, change(request));
  }
  LastChange& last = last_changes_[request.origin.client_id];
  if (last.request_id == request.header.request_id) {
    ++statistics_.requests_repeated;
  } else {
    last = {.request_id = request.header.request_id, .status = change(request)};
  }
  reply(request, last.status);
}

void ServerState::reply(const Request& request, ReplyStatus status,
                        std::span<const std::byte> value) {
  const ReplyHeader header{.request_id = request.header.request_id,
                           .status = status,
                           .value_bytes = static_cast<std::uint32_t>(value.size())};
  server_.ends().reply(request.origin, stores::bytes_of(header), value);
}

// Changes

ReplyStatus ServerState::change(const Request& request) {
  const LoggedChange change{
      .kind = request.header.kind, .key = request.key, .value = request.value};
  if (log_ == nullptr) return carry_out(change);
  if (!log_->has_room_for(change)) return ReplyStatus::out_of_memory;
  const bool logs_first = options_.log == Logging::synchronous && options_.safeguards.write_ahead;
  return logs_first ? log_and_change(change) : change_and_log(change);
}

ReplyStatus ServerState::change_and_log(const LoggedChange& change) {
  const ReplyStatus status = carry_out(change);
  if (status != ReplyStatus::stored && status != ReplyStatus::deleted) return status;
  log_->append(change);
  if (options_.log == Logging::synchronous) log_->flush_after_delay();
  return status;
}

ReplyStatus ServerState::log_and_change(const LoggedChange& change) {
  const bool changes_nothing =
      change.kind == RequestKind::remove && !memory_->map().get(change.key);
  if (changes_nothing) return ReplyStatus::not_found;
  log_->append(change);
  log_->flush_after_delay();
  const ReplyStatus status = carry_out(change);
  if (status == ReplyStatus::out_of_memory) log_->take_back_last();
  return status;
}

ReplyStatus ServerState::carry_out(const LoggedChange& change) {
  if (change.kind == RequestKind::put) return put(change);
  host_.spend(fabric::Work::crc64_update, entry_bytes);
  return memory_->map().remove(change.key) ? ReplyStatus::deleted : ReplyStatus::not_found;
}

ReplyStatus ServerState::put(const LoggedChange& change) {
  host_.spend(fabric::Work::crc64_update,
              entry_bytes + extent_bytes_of(change.key.size(), change.value.size()));
  while (true) {
    switch (memory_->map().put(change.key, change.value)) {
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

// Growing

// Requests that arrive from now on are dropped, so only announcements and earlier replies are sent.
void ServerState::announce_growth(std::uint64_t deadline_ns) {
  stores::ServerEnds& ends = server_.ends();
  const ReplyHeader header{.status = ReplyStatus::growing};
  ends.for_each([&](stores::ServerEnd& end) {
    const std::array chain{ends.own_request(end, 0, stores::bytes_of(header))};
    ends.post(end, chain);
  });
  ends.wait_for_own_requests(deadline_ns);
}

// The memory is prepared first, so a server that cannot grow keeps its clients.
bool ServerState::grow(Growth growth) {
  auto larger = memory_->prepare(growth);
  if (!larger) return false;
  is_growing_ = true;
  if (options_.safeguards.reset_before_growing) {
    const std::uint64_t deadline_ns = host_.now_ns() + options_.flush_timeout_ns;
    if (options_.announce == Announcement::message_first) announce_growth(deadline_ns);
    memory_->revoke();
    server_.ends().take_all_down(deadline_ns);
  }
  memory_->move_to(std::move(*larger));
  ++(growth == Growth::table ? statistics_.table_growths : statistics_.extents_growths);
  is_growing_ = false;
  has_grown_->notify_all();
  return true;
}

}  // namespace falafel::pilaf
