#include "engine/client/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>

#include "engine/copy_bytes.h"
#include "engine/layout/entry.h"
#include "engine/option_range.h"
#include "engine/probes.h"

namespace falafel::engine {
namespace {

constexpr std::uint32_t send_requests_per_operation = max_containers_ahead + 1;
constexpr std::uint32_t heartbeats_per_timeout = 5;

std::uint32_t send_capacity(const fabric::DeviceAttributes& device, const ClientOptions& options) {
  const std::uint32_t wanted = (options.max_operations_in_flight + 1) * send_requests_per_operation;
  return std::min(wanted, Session::requests_at_a_time(device));
}

}  // namespace

std::uint32_t Session::requests_at_a_time(const fabric::DeviceAttributes& device) {
  return std::min(device.max_queue_requests, device.max_completions);
}

std::optional<std::string> Session::find_unmet_requirement(const fabric::DeviceAttributes& device) {
  const auto need = [](std::string_view name, std::uint32_t has, std::uint64_t needed) {
    return fmt::format("{} of the device is {}, and a client needs {}; use another device", name,
                       has, needed);
  };
  if (device.max_queue_requests < receive_count) {
    return need("max_queue_requests", device.max_queue_requests, receive_count);
  }
  if (device.max_completions < receive_count) {
    return need("max_completions", device.max_completions, receive_count);
  }
  if (device.max_message_bytes < superblock_bytes) {
    return need("max_message_bytes", device.max_message_bytes, superblock_bytes);
  }
  return std::nullopt;
}

Session::Session(fabric::Host& host, const ClientOptions& options)
    : host_(host),
      options_(options),
      slots_(host),
      cleanups_(host, MessageKind::request_cleanup, [this] { outbox_->notify_all(); }),
      ends_(host, MessageKind::request_end, [this] { outbox_->notify_all(); }),
      accesses_(host, [this] { outbox_->notify_all(); }),
      quiescence_([this] {
        if (quiescent_since_) outbox_->notify_all();
      }),
      old_operations_([this] { outbox_->notify_all(); }),
      locations_(options.location_cache.entries, options.safeguards.location_expiry
                                                     ? options.location_cache.trust_ns
                                                     : fabric::never_ns),
      outbox_(host.create_event()),
      goodbye_sent_(host.create_event()) {}

fabric::Result<void> Session::open(const fabric::Address& server) {
  const std::uint64_t deadline_ns = host_.now_ns() + options_.connect_timeout_ns;
  const auto hello = connect(server, deadline_ns);
  if (!hello) return tl::unexpected(hello.error());
  server_.chunk_key = hello->chunk_key;
  server_.table_key = hello->table_key;
  heartbeat_interval_ns_ = hello->heartbeat_timeout_ns / heartbeats_per_timeout;
  next_heartbeat_ns_ = host_.now_ns() + heartbeat_interval_ns_;
  if (auto read = read_superblock(hello->chunk_bytes); !read) return read;
  regions_.emplace(host_, server_.geometry,
                   RegionAllocatorOptions{
                       .renewal_percent = options_.renewal_percent,
                       .server_timeout_ns = options_.server_timeout_ns,
                       .release_after_completion = options_.safeguards.release_after_completion},
                   [this] { outbox_->notify_all(); });
  if (auto prepared = slots_.prepare(*domain_, options_, server_.geometry); !prepared)
    return prepared;
  start_fibers();
  return {};
}

fabric::Result<ServerHello> Session::connect(const fabric::Address& server,
                                             std::uint64_t deadline_ns) {
  fabric::Device& device = this->device();
  const std::uint32_t capacity = send_capacity(device.attributes(), options_);
  domain_ = device.create_protection_domain();
  auto for_sends = device.create_completion_queue(capacity);
  if (!for_sends) return tl::unexpected(for_sends.error());
  send_completions_ = std::move(*for_sends);
  auto for_receives = device.create_completion_queue(receive_count);
  if (!for_receives) return tl::unexpected(for_receives.error());
  receive_completions_ = std::move(*for_receives);
  auto buffers = allocate_local_memory(host_, *domain_, superblock_at + superblock_bytes);
  if (!buffers) return tl::unexpected(buffers.error());
  messages_ = std::move(*buffers);
  requester_.emplace(host_, *send_completions_, capacity, [this] { on_broken(); });

  const fabric::QueuePairOptions queue_pair_options{
      .protection_domain = domain_.get(),
      .send_completions = send_completions_.get(),
      .receive_completions = receive_completions_.get(),
      .max_send_requests = capacity,
      .max_receive_requests = receive_count,
      .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
      .retry_count = options_.retry_count,
      .hears_close = options_.hears_server_close};
  auto connection =
      device.connect(server, queue_pair_options, to_bytes(ClientHello{}), deadline_ns);
  if (!connection) return tl::unexpected(connection.error());
  queue_pair_ = std::move(connection->queue_pair);
  requester_->attach(*queue_pair_);
  post_receives(0, receive_count);

  const auto growing_hello = from_bytes<GrowingServerHello>(connection->private_data);
  if (growing_hello) server_.later_tables_key = growing_hello->later_tables_key;
  const auto hello = from_bytes<ServerHello>(connection->private_data);
  if (!hello || hello->magic != hello_magic) {
    return fabric::make_error(
        fabric::ErrorCode::invalid_argument,
        fmt::format("service {} of {} is not a Falafel server; check the address", server.service,
                    server.host));
  }
  if (hello->version != message_version) {
    return fabric::make_error(
        fabric::ErrorCode::invalid_argument,
        fmt::format("the server speaks version {}, this client version {}; use "
                    "a client of the server's version",
                    hello->version, message_version));
  }
  if (auto problem = find_out_of_range("heartbeat_timeout_ns", hello->heartbeat_timeout_ns,
                                       shortest_heartbeat_timeout_ns, longest_duration_ns)) {
    return fabric::make_error(
        fabric::ErrorCode::invalid_argument,
        fmt::format("the server says that {}; it is faulty, restart it", *problem));
  }
  return *hello;
}

fabric::Result<void> Session::read_superblock(std::uint64_t promised_bytes) {
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::read;
  request.length_bytes = superblock_bytes;
  request.local = messages_.at(superblock_at);
  request.remote = {server_.chunk_key, 0};
  if (requester_->post_and_wait({&request, 1}) != ChainOutcome::completed) {
    return fabric::make_error(fabric::ErrorCode::unreachable,
                              "the connection broke before the superblock was read");
  }
  const auto superblock =
      parse_superblock(messages_.bytes(superblock_at, superblock_bytes), promised_bytes);
  if (!superblock) return tl::unexpected(superblock.error());
  server_.geometry = geometry_of(*superblock);
  server_.chunk_bytes = server_.geometry.chunk_bytes();
  server_.containers_begin = server_.geometry.region_offset(0);
  server_.containers_end = server_.geometry.mature_end();
  server_.largest_container_bytes = std::min<std::uint64_t>(
      server_.geometry.region_bytes, device().attributes().max_message_bytes);
  server_.hash_key = superblock->hash_key;
  server_.incarnation = superblock->incarnation;
  return {};
}

// No server states tables that the superblock has no room for.
void Session::learn(const Tables& tables) {
  if (tables.first > tables.last || tables.last >= server_.geometry.most_tables) return;
  tables_.first = std::max(tables_.first, tables.first);
  tables_.last = std::max(tables_.last, tables.last);
}

// The fibers own the session until they end. They end on their own when the session is broken.
void Session::start_fibers() {
  auto self = shared_from_this();
  host_.spawn({.name = "messages in", .daemon = true},
              [self] { self->do_duty(&Session::receive_messages); });
  host_.spawn({.name = "messages out", .daemon = true},
              [self] { self->do_duty(&Session::send_messages); });
  if (!options_.hears_server_close) return;
  host_.spawn({.name = "server's close", .daemon = true},
              [self] { self->do_duty(&Session::hear_server_close); });
}

// A client without memory for its messages gives up the connection.
void Session::do_duty(void (Session::*duty)()) {
  try {
    (this->*duty)();
  } catch (const std::bad_alloc&) {
    requester_->break_off();
  }
}

void Session::close() {
  if (queue_pair_ != nullptr) requester_->break_off();
}

void Session::say_goodbye() {
  goodbye_ = true;
  outbox_->notify_all();
  while (goodbye_ && !requester_->is_broken()) goodbye_sent_->wait(fabric::never_ns);
}

// Each wait is short, because a broken session ends only with the last fiber that owns it.
void Session::hear_server_close() {
  while (!requester_->is_broken()) {
    const std::uint64_t deadline_ns = host_.now_ns() + heartbeat_interval_ns_;
    if (!queue_pair_->wait_until_peer_closed(deadline_ns) || requester_->is_broken()) continue;
    host_.count(probes::server_close_heard);
    requester_->break_off();
  }
}

void Session::on_broken() {
  if (regions_) regions_->on_broken();
  cleanups_.on_broken();
  ends_.on_broken();
  outbox_->notify_all();
  goodbye_sent_->notify_all();
}

// Messages

void Session::post_receives(std::uint64_t first, std::uint64_t count) {
  std::array<fabric::ReceiveRequest, receive_count> chain;
  for (std::uint64_t index = first; index < first + count; ++index) {
    chain[index - first] = {.id = index,
                            .local = messages_.at(index * control_message_bytes),
                            .length_bytes = control_message_bytes};
  }
  const auto posted = queue_pair_->post_receive(std::span(chain).first(count));
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
}

void Session::receive_messages() {
  while (!requester_->is_broken()) {
    receive_completions_->wait(fabric::never_ns);
    std::array<fabric::WorkCompletion, receive_count> completions;
    const std::size_t count = receive_completions_->poll(completions);
    for (const fabric::WorkCompletion& completion : std::span(completions).first(count)) {
      const std::span<const std::byte> bytes =
          messages_.bytes(completion.id * control_message_bytes, control_message_bytes);
      const bool is_message = completion.status == fabric::CompletionStatus::success &&
                              completion.length_bytes == control_message_bytes;
      if (is_message && handle(*from_bytes<ControlMessage>(bytes))) {
        post_receives(completion.id, 1);
      } else {
        requester_->break_off();
      }
    }
  }
}

// Returns false if the message is invalid.
bool Session::handle(const ControlMessage& message) {
  if (!note_received(message.received)) return false;
  switch (message.kind) {
    case MessageKind::acknowledge: return true;
    case MessageKind::grant_region: return regions_->on_granted(message);
    case MessageKind::deny_region: return regions_->on_denied();
    case MessageKind::return_regions: regions_->on_wanted_back(message); return true;
    case MessageKind::cleanup_done: return cleanups_.on_done();
    case MessageKind::all_ended: return ends_.on_done();
    case MessageKind::ask_for_end:
      unreported_end_ = message.epoch;
      old_operations_.on_asked();
      outbox_->notify_all();
      return true;
    case MessageKind::ask_for_quiescence:
      asked_epoch_ = message.epoch;
      quiescent_since_ = quiescence_.now();
      outbox_->notify_all();
      return true;
    case MessageKind::request_region:
    case MessageKind::release_region:
    case MessageKind::heartbeat:
    case MessageKind::goodbye:
    case MessageKind::request_cleanup:
    case MessageKind::request_end:
    case MessageKind::operations_ended:
    case MessageKind::report_accesses:
    case MessageKind::report_freed: break;
  }
  return false;
}

bool Session::note_received(std::uint64_t received) {
  if (received < received_ || received > sent_) return false;
  if (received > received_) outbox_->notify_all();
  received_ = received;
  return true;
}

void Session::send_messages() {
  while (!requester_->is_broken()) {
    if (const auto message = next_message()) {
      const bool sent = send(*message);
      if (sent && message->kind == MessageKind::goodbye) {
        goodbye_ = false;
        goodbye_sent_->notify_all();
      }
    } else if (host_.now_ns() >= next_check_ns_ && !has_credit(credits_for_heartbeats)) {
      check_connection();
    } else {
      outbox_->wait(next_duty_ns());
    }
  }
}

// A server that does not receive messages may be stopped or gone. Only the latter breaks the
// connection, and only a request detects it. A READ does, because it does not need the server's
// processor. The longer the silence has lasted, the less the time of the next check matters, so the
// interval grows.
void Session::check_connection() {
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::read;
  request.length_bytes = fabric::word_bytes;
  request.local = messages_.at(superblock_at);
  request.remote = {server_.chunk_key, 0};
  requester_->post_and_wait({&request, 1});
  check_interval_ns_ *= 2;
  next_check_ns_ = host_.now_ns() + check_interval_ns_;
}

std::uint64_t Session::next_duty_ns() const {
  if (!has_credit(credits_for_heartbeats)) return next_check_ns_;
  return quiescent_since_ ? fabric::never_ns : next_heartbeat_ns_;
}

bool Session::send(const ControlMessage& message) {
  FALAFEL_ASSERT(is_sent_by_clients(message.kind), "a client sends a message of kind {}",
                 static_cast<std::uint32_t>(message.kind));
  constexpr std::uint64_t offset = receive_count * control_message_bytes;
  copy_bytes(bytes_of(message), messages_.bytes(offset, control_message_bytes).data());
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::send;
  request.length_bytes = control_message_bytes;
  request.local = messages_.at(offset);
  ++sent_;
  check_interval_ns_ = heartbeat_interval_ns_;
  next_check_ns_ = host_.now_ns() + check_interval_ns_;
  // Requests complete in posting order.
  const std::uint64_t abandoned = regions_->abandoned_count();
  const bool sent = requester_->post_and_wait({&request, 1}) == ChainOutcome::completed;
  if (sent) regions_->finish_abandoned(abandoned);
  return sent;
}

std::optional<ControlMessage> Session::next_message() {
  if (goodbye_) return ControlMessage{.kind = MessageKind::goodbye};
  if (has_credit(credits_for_messages)) {
    if (auto message = regions_->take_message()) return message;
    if (auto message = cleanups_.take_message()) return message;
    if (auto message = ends_.take_message()) return message;
  }
  if (has_credit(credits_for_heartbeats)) {
    if (auto message = end_report()) return message;
    if (auto message = accesses_.take_message()) return message;
  }
  return heartbeat();
}

std::optional<ControlMessage> Session::end_report() {
  if (!unreported_end_ || old_operations_.are_left()) return std::nullopt;
  const std::uint64_t epoch = *std::exchange(unreported_end_, std::nullopt);
  return ControlMessage{.kind = MessageKind::operations_ended, .epoch = epoch};
}

// A heartbeat states that no operation is old (Behringer 4.2.3): none began before the heartbeat
// was due or before the server's request.
std::optional<ControlMessage> Session::heartbeat() {
  if (!quiescent_since_ && host_.now_ns() >= next_heartbeat_ns_) {
    quiescent_since_ = quiescence_.now();
  }
  if (!quiescent_since_ || !quiescence_.is_quiescent_since(*quiescent_since_)) return std::nullopt;
  if (!has_credit(credits_for_heartbeats)) return std::nullopt;
  quiescent_since_.reset();
  next_heartbeat_ns_ = host_.now_ns() + heartbeat_interval_ns_;
  return ControlMessage{.kind = MessageKind::heartbeat, .epoch = asked_epoch_};
}

}  // namespace falafel::engine
