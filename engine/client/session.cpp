#include "engine/client/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/client/operation.h"
#include "engine/copy_bytes.h"
#include "engine/layout/entry.h"
#include "engine/option_range.h"

namespace falafel::engine {
namespace {

constexpr std::uint32_t send_requests_per_operation = max_containers_ahead + 1;
constexpr std::uint32_t heartbeats_per_timeout = 5;
constexpr std::uint64_t line_bytes = 64;  // a cache line; slots share none

std::uint32_t send_capacity(fabric::Host& host, const ClientOptions& options) {
  const fabric::DeviceAttributes& device = host.device(0).attributes();
  const std::uint32_t wanted = (options.max_operations_in_flight + 1) * send_requests_per_operation;
  return std::min(wanted, Session::requests_at_a_time(device));
}

}  // namespace

std::uint32_t Session::requests_at_a_time(const fabric::DeviceAttributes& device) {
  return std::min(device.max_queue_requests, device.max_completions);
}

std::optional<std::string> Session::find_lacking(const fabric::DeviceAttributes& device) {
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

Session::Session(fabric::Host& owner, const ClientOptions& client_options)
    : host(owner),
      options(client_options),
      cleanups(owner, client_options.server_timeout_ns, [this] { outbox_->notify_all(); }),
      quiescence([this] {
        if (quiescent_since_) outbox_->notify_all();
      }),
      outbox_(owner.create_event()),
      slot_free_(owner.create_event()),
      goodbye_sent_(owner.create_event()) {}

fabric::Result<void> Session::open(const fabric::Address& server) {
  const std::uint64_t deadline_ns = host.now_ns() + options.connect_timeout_ns;
  const auto hello = connect(server, deadline_ns);
  if (!hello) return tl::unexpected(hello.error());
  chunk_key = hello->chunk_key;
  table_key = hello->table_key;
  heartbeat_interval_ns_ = hello->heartbeat_timeout_ns / heartbeats_per_timeout;
  next_heartbeat_ns_ = host.now_ns() + heartbeat_interval_ns_;
  if (auto read = read_superblock(hello->chunk_bytes); !read) return read;
  regions.emplace(host, geometry,
                  RegionAllocatorOptions{
                      .renewal_percent = options.renewal_percent,
                      .server_timeout_ns = options.server_timeout_ns,
                      .release_after_completion = options.safeguards.release_after_completion},
                  [this] { outbox_->notify_all(); });
  if (auto prepared = prepare_slots(); !prepared) return prepared;
  start_fibers();
  return {};
}

fabric::Result<ServerHello> Session::connect(const fabric::Address& server,
                                             std::uint64_t deadline_ns) {
  fabric::Device& device = host.device(0);
  const std::uint32_t capacity = send_capacity(host, options);
  domain = device.create_protection_domain();
  auto for_sends = device.create_completion_queue(capacity);
  if (!for_sends) return tl::unexpected(for_sends.error());
  send_completions = std::move(*for_sends);
  auto for_receives = device.create_completion_queue(receive_count);
  if (!for_receives) return tl::unexpected(for_receives.error());
  receive_completions = std::move(*for_receives);
  auto buffers = allocate_local_memory(host, *domain, superblock_at + superblock_bytes);
  if (!buffers) return tl::unexpected(buffers.error());
  messages_ = std::move(*buffers);
  requester.emplace(host, *send_completions, capacity, [this] { on_broken(); });

  const fabric::QueuePairOptions queue_pair_options{
      .protection_domain = domain.get(),
      .send_completions = send_completions.get(),
      .receive_completions = receive_completions.get(),
      .max_send_requests = capacity,
      .max_receive_requests = receive_count,
      .acknowledge_timeout_ns = options.acknowledge_timeout_ns,
      .retry_count = options.retry_count};
  auto connection =
      device.connect(server, queue_pair_options, to_bytes(ClientHello{}), deadline_ns);
  if (!connection) return tl::unexpected(connection.error());
  queue_pair_ = std::move(connection->queue_pair);
  requester->attach(*queue_pair_);
  post_receives(0, receive_count);

  const auto hello = from_bytes<ServerHello>(connection->private_data);
  if (!hello || hello->magic != hello_magic) {
    return fabric::make_error(
        fabric::ErrorCode::invalid_argument,
        fmt::format("service {} of {} is not a Falafel server; check the address", server.service,
                    server.host));
  }
  if (hello->version != layout_version) {
    return fabric::make_error(
        fabric::ErrorCode::invalid_argument,
        fmt::format("the server speaks version {}, this client version {}; use "
                    "a client of the server's version",
                    hello->version, layout_version));
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
  request.remote = {chunk_key, 0};
  if (!requester->execute({&request, 1})) {
    return fabric::make_error(fabric::ErrorCode::unreachable,
                              "the connection broke before the superblock was read");
  }
  const auto superblock =
      parse_superblock(messages_.bytes(superblock_at, superblock_bytes), promised_bytes);
  if (!superblock) return tl::unexpected(superblock.error());
  geometry = geometry_of(*superblock);
  chunk_bytes = geometry.chunk_bytes();
  largest_container_bytes =
      std::min<std::uint64_t>(geometry.region_bytes, host.device(0).attributes().max_message_bytes);
  hash_key = superblock->hash_key;
  server_incarnation = superblock->incarnation;
  return {};
}

fabric::Result<void> Session::prepare_slots() {
  const std::uint64_t chunk_entries =
      std::min<std::uint64_t>(options.readahead.chunk_entries, geometry.table_entries);
  const std::uint64_t size_bytes =
      fabric::word_bytes + 2 * chunk_entries * entry_bytes +
      std::uint64_t{options.readahead.containers} * options.readahead.container_bytes;
  const std::uint64_t distance_bytes = (size_bytes + line_bytes - 1) / line_bytes * line_bytes;
  slots.resize(options.max_operations_in_flight);
  auto memory = allocate_local_memory(host, *domain, slots.size() * distance_bytes);
  if (!memory) return tl::unexpected(memory.error());
  for (std::size_t index = 0; index < slots.size(); ++index) {
    slots[index].fixed = memory->piece(index * distance_bytes, size_bytes);
  }
  return {};
}

// The fibers own the session until they end. They end on their own when the session is broken.
void Session::start_fibers() {
  auto self = shared_from_this();
  host.spawn({.name = "messages in", .daemon = true}, [self] { self->receive_messages(); });
  host.spawn({.name = "messages out", .daemon = true}, [self] { self->send_messages(); });
}

void Session::close() {
  if (queue_pair_ != nullptr) requester->break_off();
}

void Session::say_goodbye() {
  goodbye_ = true;
  outbox_->notify_all();
  while (goodbye_ && !requester->is_broken()) goodbye_sent_->wait(fabric::never_ns);
}

void Session::on_broken() {
  if (regions) regions->on_broken();
  cleanups.on_broken();
  outbox_->notify_all();
  goodbye_sent_->notify_all();
}

std::size_t Session::take_slot() {
  for (;;) {
    const auto free =
        std::ranges::find_if(slots, [](const OperationSlot& slot) { return !slot.busy; });
    if (free != slots.end()) {
      free->busy = true;
      return static_cast<std::size_t>(free - slots.begin());
    }
    slot_free_->wait(fabric::never_ns);
  }
}

void Session::return_slot(std::size_t slot) {
  slots[slot].busy = false;
  slot_free_->notify_all();
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
  while (!requester->is_broken()) {
    receive_completions->wait(fabric::never_ns);
    std::array<fabric::WorkCompletion, receive_count> completions;
    const std::size_t count = receive_completions->poll(completions);
    for (const fabric::WorkCompletion& completion : std::span(completions).first(count)) {
      const std::span<const std::byte> bytes =
          messages_.bytes(completion.id * control_message_bytes, control_message_bytes);
      const bool is_message = completion.status == fabric::CompletionStatus::success &&
                              completion.length_bytes == control_message_bytes;
      if (is_message && handle(*from_bytes<ControlMessage>(bytes))) {
        post_receives(completion.id, 1);
      } else {
        requester->break_off();
      }
    }
  }
}

// Returns false if the message is invalid.
bool Session::handle(const ControlMessage& message) {
  if (!note_received(message.received)) return false;
  switch (message.kind) {
    case MessageKind::acknowledge: return true;
    case MessageKind::grant_region: return regions->on_granted(message);
    case MessageKind::deny_region: return regions->on_denied();
    case MessageKind::return_regions: regions->on_wanted_back(message); return true;
    case MessageKind::cleanup_done: return cleanups.on_done();
    case MessageKind::ask_for_quiescence:
      asked_epoch_ = message.epoch;
      quiescent_since_ = quiescence.now();
      outbox_->notify_all();
      return true;
    case MessageKind::request_region:
    case MessageKind::release_region:
    case MessageKind::heartbeat:
    case MessageKind::goodbye:
    case MessageKind::request_cleanup: break;
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
  while (!requester->is_broken()) {
    if (const auto message = next_message()) {
      const bool sent = send(*message);
      if (sent && message->kind == MessageKind::goodbye) {
        goodbye_ = false;
        goodbye_sent_->notify_all();
      }
    } else if (host.now_ns() >= next_check_ns_ && !has_credit(credits_for_heartbeats)) {
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
  request.remote = {chunk_key, 0};
  requester->execute({&request, 1});
  check_interval_ns_ *= 2;
  next_check_ns_ = host.now_ns() + check_interval_ns_;
}

std::uint64_t Session::next_duty_ns() const {
  if (!has_credit(credits_for_heartbeats)) return next_check_ns_;
  return quiescent_since_ ? fabric::never_ns : next_heartbeat_ns_;
}

bool Session::send(const ControlMessage& message) {
  constexpr std::uint64_t offset = receive_count * control_message_bytes;
  copy_bytes(bytes_of(message), messages_.bytes(offset, control_message_bytes).data());
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::send;
  request.length_bytes = control_message_bytes;
  request.local = messages_.at(offset);
  ++sent_;
  check_interval_ns_ = heartbeat_interval_ns_;
  next_check_ns_ = host.now_ns() + check_interval_ns_;
  // Requests complete in posting order.
  const std::uint64_t abandoned = regions->abandoned_count();
  const bool sent = requester->execute({&request, 1});
  if (sent) regions->finish_abandoned(abandoned);
  return sent;
}

std::optional<ControlMessage> Session::next_message() {
  if (goodbye_) return ControlMessage{.kind = MessageKind::goodbye};
  if (has_credit(credits_for_messages)) {
    if (auto message = regions->take_message()) return message;
    if (auto message = cleanups.take_message()) return message;
  }
  return heartbeat();
}

// A heartbeat states that no operation is old (Behringer 4.2.3): none began before the heartbeat
// was due or before the server's request.
std::optional<ControlMessage> Session::heartbeat() {
  if (!quiescent_since_ && host.now_ns() >= next_heartbeat_ns_) {
    quiescent_since_ = quiescence.now();
  }
  if (!quiescent_since_ || !quiescence.is_quiescent_since(*quiescent_since_)) return std::nullopt;
  if (!has_credit(credits_for_heartbeats)) return std::nullopt;
  quiescent_since_.reset();
  next_heartbeat_ns_ = host.now_ns() + heartbeat_interval_ns_;
  return ControlMessage{.kind = MessageKind::heartbeat, .epoch = asked_epoch_};
}

}  // namespace falafel::engine
