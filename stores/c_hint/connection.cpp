#include "stores/c_hint/connection.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "stores/bytes.h"

namespace falafel::c_hint {
namespace {

constexpr std::uint32_t most_posted_sends = 4;  // a READ, a WRITE, a message and a check

bool is_plausible(const ServerHello& hello) {
  return hello.magic == hello_magic && hello.version == layout_version && hello.items_bytes > 0 &&
         hello.largest_message_bytes > sizeof(ReplyHeader) && hello.container_bytes > 0;
}

}  // namespace

// Connecting

fabric::Result<std::unique_ptr<Connection>> Connection::open(fabric::Host& host,
                                                             const fabric::Address& server,
                                                             const Options& options,
                                                             std::uint64_t client_id,
                                                             OperationStatistics& statistics) {
  std::unique_ptr<Connection> connection(new Connection(host, options, statistics));
  connection->domain_ = host.device(0).create_protection_domain();
  if (auto prepared = connection->prepare_container(); !prepared) {
    return tl::unexpected(prepared.error());
  }
  if (auto connected = connection->connect(server, client_id); !connected) {
    return tl::unexpected(connected.error());
  }
  if (auto prepared = connection->prepare_buffers(); !prepared) {
    return tl::unexpected(prepared.error());
  }
  return connection;
}

fabric::Result<void> Connection::prepare_container() {
  container_bytes_ = stores::whole_words(options_.container_bytes);
  auto block = host_.allocate_memory(container_bytes_);
  if (!block) return tl::unexpected(block.error());
  container_ = std::move(*block);
  auto region = domain_->register_memory(container_, 0, container_bytes_,
                                         {.local_write = true, .remote_write = true});
  if (!region) return tl::unexpected(region.error());
  container_region_ = std::move(*region);
  return {};
}

fabric::Result<void> Connection::connect(const fabric::Address& server, std::uint64_t client_id) {
  fabric::Device& device = host_.device(0);
  auto completions = device.create_completion_queue(most_posted_sends + receive_count);
  if (!completions) return tl::unexpected(completions.error());
  completions_ = std::move(*completions);
  const ClientHello client{.client_id = client_id,
                           .container_key = container_region_->remote_key(),
                           .container_bytes = options_.container_bytes};
  auto connected =
      device.connect(server,
                     {.protection_domain = domain_.get(),
                      .send_completions = completions_.get(),
                      .receive_completions = completions_.get(),
                      .max_send_requests = most_posted_sends,
                      .max_receive_requests = receive_count,
                      .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
                      .retry_count = options_.retry_count},
                     stores::to_private_data(client), host_.now_ns() + options_.server_timeout_ns);
  if (!connected) return tl::unexpected(connected.error());
  const auto hello = stores::from_bytes<ServerHello>(connected->private_data);
  if (!hello || !is_plausible(*hello)) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument,
                              server.host + " is no C-Hint server of this version");
  }
  server_ = *hello;
  queue_pair_ = std::move(connected->queue_pair);
  return {};
}

fabric::Result<void> Connection::prepare_buffers() {
  message_bytes_ = stores::whole_words(server_.largest_message_bytes);
  auto block = host_.allocate_memory(buffers_bytes());
  if (!block) return tl::unexpected(block.error());
  buffers_ = std::move(*block);
  auto region = domain_->register_memory(buffers_, 0, buffers_bytes(), {.local_write = true});
  if (!region) return tl::unexpected(region.error());
  region_ = std::move(*region);
  for (std::uint32_t buffer = 0; buffer < receive_count; ++buffer) post_receive(buffer);
  return {};
}

bool Connection::is_up() {
  while (!is_down_ && poll()) {
  }
  return !is_down_ && queue_pair_->state() == fabric::QueuePairState::ready;
}

// Completions

void Connection::post_receive(std::uint32_t buffer) {
  const fabric::ReceiveRequest request{
      .id = buffer,
      .local = {.key = region_->local_key(), .offset = receive_offset(buffer)},
      .length_bytes = server_.largest_message_bytes};
  const auto posted = queue_pair_->post_receive({&request, 1});
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
}

void Connection::post(std::span<const fabric::WorkRequest> chain) {
  const auto posted = queue_pair_->post_send(chain);
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  statistics_.verbs += chain.size();
}

// Returns false at the deadline, or if the connection is down.
template <typename Condition>
bool Connection::wait_until(const Condition& condition, std::uint64_t deadline_ns) {
  while (!is_down_ && !condition()) {
    if (!poll() && !completions_->wait(deadline_ns)) return false;
  }
  return !is_down_;
}

bool Connection::poll() {
  std::array<fabric::WorkCompletion, 1> completion{};
  if (completions_->poll(completion) == 0) return false;
  handle(completion[0]);
  return true;
}

void Connection::handle(const fabric::WorkCompletion& completion) {
  if (completion.status != fabric::CompletionStatus::success) {
    is_down_ = true;
    return;
  }
  switch (completion.id) {
    case read_id: is_reading_ = false; return;
    case send_id: is_sending_ = false; return;
    case check_id: is_checking_ = false; return;
    default: receive(static_cast<std::uint32_t>(completion.id), completion.length_bytes);
  }
}

bool Connection::is_awaited(const ReplyHeader& header, std::uint32_t length_bytes) const {
  return awaited_id_ != 0 && header.request_id == awaited_id_ &&
         sizeof header + std::uint64_t{header.value_bytes} == length_bytes &&
         header.container_bytes <= options_.container_bytes;
}

// What the server sends is not trusted either: a reply that is too short, or to no request of ours,
// is dropped.
void Connection::receive(std::uint32_t buffer, std::uint32_t length_bytes) {
  const std::span<const std::byte> message =
      buffers_->bytes().subspan(receive_offset(buffer), length_bytes);
  const auto header = stores::from_bytes<ReplyHeader>(message);
  if (header && is_awaited(*header, length_bytes)) {
    const auto value = message.subspan(sizeof *header);
    reply_ = Reply{.header = *header, .value = {value.begin(), value.end()}};
    if (header->container_bytes > 0) {
      reply_->value.resize(header->container_bytes);
      container_->read(0, reply_->value);
    }
    statistics_.bytes_received += std::uint64_t{length_bytes} + header->container_bytes;
  }
  post_receive(buffer);
}

// READs

std::optional<std::vector<std::byte>> Connection::read(const CachedPointer& pointer) {
  const std::uint64_t room_bytes = std::min(message_bytes_, server_.items_bytes);
  if (pointer.item_bytes > room_bytes ||
      pointer.offset > server_.items_bytes - pointer.item_bytes) {
    return std::vector<std::byte>();
  }
  fabric::WorkRequest request;
  request.id = read_id;
  request.opcode = fabric::Opcode::read;
  request.length_bytes = static_cast<std::uint32_t>(pointer.item_bytes);
  request.local = {.key = region_->local_key(), .offset = item_offset()};
  request.remote = {.key = server_.items_key, .offset = pointer.offset};
  post({&request, 1});
  is_reading_ = true;
  ++statistics_.round_trips;
  statistics_.bytes_received += request.length_bytes;
  if (!wait_until([&] { return !is_reading_; }, fabric::never_ns)) return std::nullopt;
  const auto bytes = buffers_->bytes().subspan(item_offset(), pointer.item_bytes);
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

// Messages

// A server that has taken the connection down is silent, so a client that only waits for a message
// would not notice. A READ of no bytes fails then.
void Connection::check_peer() {
  if (std::exchange(is_checking_, true)) return;
  fabric::WorkRequest request;
  request.id = check_id;
  request.opcode = fabric::Opcode::read;
  request.local = {.key = region_->local_key(), .offset = 0};
  request.remote = {.key = server_.items_key, .offset = 0};
  post({&request, 1});
}

void Connection::wait_for_reply(std::uint64_t deadline_ns) {
  const auto is_done = [&] { return reply_ && !is_sending_; };
  while (!is_down_ && !is_done() && host_.now_ns() < deadline_ns) {
    const std::uint64_t check_ns = host_.now_ns() + options_.check_interval_ns;
    if (!wait_until(is_done, std::min(deadline_ns, check_ns)) && !is_down_) check_peer();
  }
}

fabric::WorkRequest Connection::message(const RequestHeader& header, std::span<const std::byte> key,
                                        std::span<const std::byte> value) {
  const std::span<std::byte> buffer = buffers_->bytes().subspan(send_offset(), message_bytes_);
  std::memcpy(buffer.data(), &header, sizeof header);
  std::byte* const after_key = std::copy_n(key.data(), key.size(), buffer.data() + sizeof header);
  std::copy_n(value.data(), value.size(), after_key);
  fabric::WorkRequest request;
  request.id = send_id;
  request.opcode = fabric::Opcode::send;
  request.length_bytes = static_cast<std::uint32_t>(sizeof header + key.size() + value.size());
  request.local = {.key = region_->local_key(), .offset = send_offset()};
  return request;
}

ExchangeOutcome Connection::exchange(const RequestHeader& header, std::span<const std::byte> key,
                                     std::span<const std::byte> value, std::uint64_t deadline_ns,
                                     Reply& reply) {
  if (!is_up()) return ExchangeOutcome::not_sent;
  const std::array chain{message(header, key, value)};
  return exchange(chain, header.request_id, deadline_ns, reply);
}

// The notification is ordered after the WRITE, and when it arrives, the server's processor sees
// both.
ExchangeOutcome Connection::report_by_write(RequestHeader header, std::span<const std::byte> report,
                                            std::uint64_t deadline_ns, Reply& reply) {
  if (!is_up()) return ExchangeOutcome::not_sent;
  std::ranges::copy(report, buffers_->bytes().subspan(report_offset()).begin());
  header.container_bytes = static_cast<std::uint32_t>(report.size());
  fabric::WorkRequest write;
  write.id = write_id;
  write.opcode = fabric::Opcode::write;
  write.signalled = false;
  write.length_bytes = header.container_bytes;
  write.local = {.key = region_->local_key(), .offset = report_offset()};
  write.remote = {.key = server_.container_key, .offset = 0};
  const std::array chain{write, message(header, {}, {})};
  return exchange(chain, header.request_id, deadline_ns, reply);
}

ExchangeOutcome Connection::exchange(std::span<const fabric::WorkRequest> chain,
                                     std::uint32_t request_id, std::uint64_t deadline_ns,
                                     Reply& reply) {
  post(chain);
  ++statistics_.round_trips;
  for (const fabric::WorkRequest& request : chain) statistics_.bytes_sent += request.length_bytes;
  is_sending_ = true;
  awaited_id_ = request_id;
  reply_.reset();
  wait_for_reply(deadline_ns);
  awaited_id_ = 0;
  if (reply_) {
    if (is_sending_) is_down_ = true;  // the buffer is still in use
    reply = std::move(*reply_);
    return ExchangeOutcome::answered;
  }
  if (is_down_) return ExchangeOutcome::in_doubt;
  is_down_ = true;  // its late reply must not answer another request
  return ExchangeOutcome::timed_out;
}

}  // namespace falafel::c_hint
