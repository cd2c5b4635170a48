#include "stores/pilaf/connection.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "stores/bytes.h"

namespace falafel::pilaf {
namespace {

// READs of entries, a message and a check.
constexpr std::uint32_t most_posted_sends = entries_at_a_time + 2;

bool is_plausible(const ServerHello& hello) {
  return hello.magic == hello_magic && hello.version == layout_version && hello.ways > 0 &&
         hello.ways <= 3 && hello.table_entries > 0 &&
         hello.largest_request_bytes > sizeof(RequestHeader);
}

}  // namespace

// Connecting

fabric::Result<std::unique_ptr<Connection>> Connection::open(fabric::Host& host,
                                                             const fabric::Address& server,
                                                             const Options& options,
                                                             std::uint64_t client_id,
                                                             OperationStatistics& statistics) {
  std::unique_ptr<Connection> connection(new Connection(host, options, statistics));
  if (auto connected = connection->connect(server, client_id); !connected) {
    return tl::unexpected(connected.error());
  }
  if (auto prepared = connection->prepare_buffers(); !prepared) {
    return tl::unexpected(prepared.error());
  }
  return connection;
}

fabric::Result<void> Connection::connect(const fabric::Address& server, std::uint64_t client_id) {
  fabric::Device& device = host_.device(0);
  domain_ = device.create_protection_domain();
  auto completions = device.create_completion_queue(most_posted_sends + receive_count);
  if (!completions) return tl::unexpected(completions.error());
  completions_ = std::move(*completions);
  auto connected = device.connect(server,
                                  {.protection_domain = domain_.get(),
                                   .send_completions = completions_.get(),
                                   .receive_completions = completions_.get(),
                                   .max_send_requests = most_posted_sends,
                                   .max_receive_requests = receive_count,
                                   .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
                                   .retry_count = options_.retry_count},
                                  stores::to_private_data(ClientHello{.client_id = client_id}),
                                  host_.now_ns() + options_.server_timeout_ns);
  if (!connected) return tl::unexpected(connected.error());
  const auto hello = stores::from_bytes<ServerHello>(connected->private_data);
  if (!hello || !is_plausible(*hello)) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument,
                              server.host + " is no Pilaf server of this version");
  }
  server_ = *hello;
  queue_pair_ = std::move(connected->queue_pair);
  return {};
}

fabric::Result<void> Connection::prepare_buffers() {
  message_bytes_ = stores::whole_words(server_.largest_request_bytes);
  auto block = host_.allocate_memory(buffers_bytes());
  if (!block) return tl::unexpected(block.error());
  buffers_ = std::move(*block);
  auto region = domain_->register_memory(buffers_, 0, buffers_bytes(), {.local_write = true});
  if (!region) return tl::unexpected(region.error());
  region_ = std::move(*region);
  for (std::uint32_t buffer = 0; buffer < receive_count; ++buffer) post_receive(buffer);
  return {};
}

Geometry Connection::geometry() const {
  return {.table_entries = server_.table_entries,
          .extents_bytes = server_.extents_bytes,
          .hash_seed = server_.hash_seed};
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
      .length_bytes = server_.largest_request_bytes};
  const auto posted = queue_pair_->post_receive({&request, 1});
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
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

// What the server sends is not trusted either: a reply that is too short, or to no request of ours,
// is dropped.
void Connection::receive(std::uint32_t buffer, std::uint32_t length_bytes) {
  const std::span<const std::byte> message =
      buffers_->bytes().subspan(receive_offset(buffer), length_bytes);
  const auto header = stores::from_bytes<ReplyHeader>(message);
  if (header && header->status == ReplyStatus::growing) {
    is_down_ = true;
    return;
  }
  const bool is_awaited = header && awaited_id_ != 0 && header->request_id == awaited_id_ &&
                          sizeof *header + std::uint64_t{header->value_bytes} == length_bytes;
  if (is_awaited) {
    const auto value = message.subspan(sizeof *header);
    reply_ = Reply{.status = header->status, .value = {value.begin(), value.end()}};
    statistics_.bytes_received += length_bytes;
  }
  post_receive(buffer);
}

// READs

fabric::WorkRequest Connection::read_request(std::uint64_t local, std::uint32_t key,
                                             std::uint64_t remote,
                                             std::uint32_t length_bytes) const {
  fabric::WorkRequest request;
  request.id = read_id;
  request.opcode = fabric::Opcode::read;
  request.signalled = false;
  request.length_bytes = length_bytes;
  request.local = {.key = region_->local_key(), .offset = local};
  request.remote = {.key = key, .offset = remote};
  return request;
}

void Connection::post(std::span<const fabric::WorkRequest> chain) {
  const auto posted = queue_pair_->post_send(chain);
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
}

bool Connection::read(std::span<fabric::WorkRequest> chain) {
  chain.back().signalled = true;
  post(chain);
  is_reading_ = true;
  statistics_.verbs += chain.size();
  ++statistics_.round_trips;
  for (const fabric::WorkRequest& request : chain) {
    statistics_.bytes_received += request.length_bytes;
  }
  return wait_until([&] { return !is_reading_; }, fabric::never_ns);
}

bool Connection::read_entries(std::span<const std::uint64_t> slots, std::span<Entry> entries) {
  std::array<fabric::WorkRequest, entries_at_a_time> chain;
  for (std::size_t index = 0; index < slots.size(); ++index) {
    chain[index] = read_request(entries_offset() + index * entry_bytes, server_.table_key,
                                Geometry::entry_offset(slots[index]), entry_bytes);
  }
  if (!read(std::span(chain).first(slots.size()))) return false;
  std::memcpy(entries.data(), buffers_->bytes().data() + entries_offset(),
              slots.size() * entry_bytes);
  return true;
}

bool Connection::read_extent(const ExtentPointer& pointer, std::vector<std::byte>& extent) {
  extent.clear();
  const std::uint64_t room_bytes = std::min(message_bytes_, server_.extents_bytes);
  if (pointer.bytes > room_bytes || pointer.offset > server_.extents_bytes - pointer.bytes) {
    ++statistics_.wild_pointers;
    return true;
  }
  if (pointer.bytes == 0) return true;
  std::array<fabric::WorkRequest, 1> chain{read_request(
      extent_offset(), server_.extents_key, geometry().extent_offset(pointer), pointer.bytes)};
  if (!read(chain)) return false;
  const auto bytes = buffers_->bytes().subspan(extent_offset(), pointer.bytes);
  extent.assign(bytes.begin(), bytes.end());
  return true;
}

// Messages

// A server that has taken the connection down is silent, so a client that only waits for a message
// would not notice. A READ of no bytes fails then.
void Connection::check_peer() {
  if (std::exchange(is_checking_, true)) return;
  fabric::WorkRequest request = read_request(0, 0, 0, 0);
  request.id = check_id;
  request.signalled = true;
  post({&request, 1});
  ++statistics_.verbs;
}

void Connection::wait_for_reply(std::uint64_t deadline_ns) {
  const auto is_done = [&] { return reply_ && !is_sending_; };
  while (!is_down_ && !is_done() && host_.now_ns() < deadline_ns) {
    const std::uint64_t check_ns = host_.now_ns() + options_.check_interval_ns;
    if (!wait_until(is_done, std::min(deadline_ns, check_ns)) && !is_down_) check_peer();
  }
}

ExchangeOutcome Connection::exchange(const RequestHeader& header, std::span<const std::byte> key,
                                     std::span<const std::byte> value, std::uint64_t deadline_ns,
                                     Reply& reply) {
  if (!is_up()) return ExchangeOutcome::not_sent;
  const std::span<std::byte> buffer = buffers_->bytes().subspan(send_offset(), message_bytes_);
  std::memcpy(buffer.data(), &header, sizeof header);
  std::byte* const after_key = std::copy_n(key.data(), key.size(), buffer.data() + sizeof header);
  std::copy_n(value.data(), value.size(), after_key);
  fabric::WorkRequest request;
  request.id = send_id;
  request.opcode = fabric::Opcode::send;
  request.length_bytes = static_cast<std::uint32_t>(sizeof header + key.size() + value.size());
  request.local = {.key = region_->local_key(), .offset = send_offset()};
  post({&request, 1});
  ++statistics_.verbs;
  ++statistics_.round_trips;
  statistics_.bytes_sent += request.length_bytes;
  is_sending_ = true;
  awaited_id_ = header.request_id;
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

}  // namespace falafel::pilaf
