#include "stores/exchange/client_end.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stores/bytes.h"

namespace falafel::stores {

// Connecting

fabric::Result<fabric::PrivateData> ClientEnd::connect(const fabric::Address& server,
                                                       const fabric::PrivateData& hello) {
  fabric::Device& device = host_.device(0);
  auto completions = device.create_completion_queue(options_.max_requests + receive_count);
  if (!completions) return tl::unexpected(completions.error());
  completions_ = std::move(*completions);
  auto connected = device.connect(server,
                                  {.protection_domain = &domain_,
                                   .send_completions = completions_.get(),
                                   .receive_completions = completions_.get(),
                                   .max_send_requests = options_.max_requests,
                                   .max_receive_requests = receive_count,
                                   .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
                                   .retry_count = options_.retry_count},
                                  hello, host_.now_ns() + options_.server_timeout_ns);
  if (!connected) return tl::unexpected(connected.error());
  queue_pair_ = std::move(connected->queue_pair);
  return connected->private_data;
}

fabric::Result<void> ClientEnd::prepare(std::uint32_t message_bytes, std::uint64_t own_bytes) {
  message_bytes_ = message_bytes;
  buffer_bytes_ = whole_words(message_bytes);
  const std::uint64_t size_bytes = own_offset() + own_bytes;
  auto buffers = RegisteredMemory::create(host_, domain_, size_bytes, {.local_write = true});
  if (!buffers) return tl::unexpected(buffers.error());
  buffers_ = std::move(*buffers);
  for (std::uint32_t buffer = 0; buffer < receive_count; ++buffer) post_receive(buffer);
  return {};
}

bool ClientEnd::is_up() {
  while (!is_down_ && poll()) {
  }
  return !is_down_ && queue_pair_->state() == fabric::QueuePairState::ready;
}

// Completions

void ClientEnd::post_receive(std::uint32_t buffer) {
  const fabric::ReceiveRequest request{
      .id = buffer,
      .local = {.key = buffers_.region->local_key(), .offset = receive_offset(buffer)},
      .length_bytes = message_bytes_};
  const auto posted = queue_pair_->post_receive({&request, 1});
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
}

void ClientEnd::post(std::span<const fabric::WorkRequest> chain) {
  const auto posted = queue_pair_->post_send(chain);
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  traffic_.verbs += chain.size();
}

// Returns false at the deadline, or if the connection is down.
template <typename Condition>
bool ClientEnd::wait_until(const Condition& condition, std::uint64_t deadline_ns) {
  while (!is_down_ && !condition()) {
    if (!poll() && !completions_->wait(deadline_ns)) return false;
  }
  return !is_down_;
}

bool ClientEnd::poll() {
  std::array<fabric::WorkCompletion, 1> completion{};
  if (completions_->poll(completion) == 0) return false;
  handle(completion[0]);
  return true;
}

void ClientEnd::handle(const fabric::WorkCompletion& completion) {
  if (completion.status != fabric::CompletionStatus::success) {
    is_down_ = true;
    return;
  }
  switch (completion.id) {
    case send_id: is_sending_ = false; return;
    case own_id: is_reading_ = false; return;
    case check_id: is_checking_ = false; return;
    default: receive(static_cast<std::uint32_t>(completion.id), completion.length_bytes);
  }
}

void ClientEnd::receive(std::uint32_t buffer, std::uint32_t length_bytes) {
  const auto message = buffers_.block->bytes().subspan(receive_offset(buffer), length_bytes);
  switch (recipient_.take(message, awaited_id_)) {
    case Meaning::end_of_connection: is_down_ = true; return;
    case Meaning::nothing: break;
    case Meaning::reply:
      is_answered_ = true;
      traffic_.bytes_received += length_bytes;
      break;
  }
  post_receive(buffer);
}

// READs

std::span<std::byte> ClientEnd::own_bytes(std::uint64_t offset, std::uint64_t length_bytes) {
  return buffers_.block->bytes().subspan(own_offset() + offset, length_bytes);
}

fabric::WorkRequest ClientEnd::own_request(std::uint64_t own_offset_bytes, std::uint32_t remote_key,
                                           std::uint64_t remote_offset,
                                           std::uint32_t length_bytes) const {
  fabric::WorkRequest request;
  request.id = own_id;
  request.opcode = fabric::Opcode::read;
  request.signalled = false;
  request.length_bytes = length_bytes;
  request.local = {.key = buffers_.region->local_key(), .offset = own_offset() + own_offset_bytes};
  request.remote = {.key = remote_key, .offset = remote_offset};
  return request;
}

bool ClientEnd::read(std::span<fabric::WorkRequest> chain) {
  chain.back().signalled = true;
  post(chain);
  is_reading_ = true;
  ++traffic_.round_trips;
  for (const fabric::WorkRequest& request : chain) traffic_.bytes_received += request.length_bytes;
  return wait_until([&] { return !is_reading_; }, fabric::never_ns);
}

// Messages

// A server that has taken the connection down is silent, so a client that only waits for a message
// would not notice. A READ of no bytes fails then.
void ClientEnd::check_peer() {
  if (std::exchange(is_checking_, true)) return;
  fabric::WorkRequest request;
  request.id = check_id;
  request.opcode = fabric::Opcode::read;
  request.local = {.key = buffers_.region->local_key(), .offset = 0};
  post({&request, 1});
}

void ClientEnd::wait_for_reply(std::uint64_t deadline_ns) {
  const auto is_done = [&] { return is_answered_ && !is_sending_; };
  while (!is_down_ && !is_done() && host_.now_ns() < deadline_ns) {
    const std::uint64_t check_ns = host_.now_ns() + options_.check_interval_ns;
    if (!wait_until(is_done, std::min(deadline_ns, check_ns)) && !is_down_) check_peer();
  }
}

fabric::WorkRequest ClientEnd::send_request(const Message& message) {
  const std::span<std::byte> buffer = buffers_.block->bytes().subspan(send_offset(), buffer_bytes_);
  std::uint64_t length_bytes = 0;
  for (const auto part : {message.header, message.key, message.value}) {
    std::ranges::copy(part, buffer.subspan(length_bytes).begin());
    length_bytes += part.size();
  }
  fabric::WorkRequest request;
  request.id = send_id;
  request.opcode = fabric::Opcode::send;
  request.length_bytes = static_cast<std::uint32_t>(length_bytes);
  request.local = {.key = buffers_.region->local_key(), .offset = send_offset()};
  return request;
}

ExchangeOutcome ClientEnd::exchange(const Message& message, std::uint64_t deadline_ns,
                                    const std::optional<fabric::WorkRequest>& before) {
  if (!is_up()) return ExchangeOutcome::not_sent;
  std::array both{before.value_or(fabric::WorkRequest{}), send_request(message)};
  both.front().id = before_id;
  const auto chain = std::span(both).last(before ? 2 : 1);
  post(chain);
  ++traffic_.round_trips;
  for (const fabric::WorkRequest& request : chain) traffic_.bytes_sent += request.length_bytes;
  is_sending_ = true;
  awaited_id_ = message.request_id;
  is_answered_ = false;
  wait_for_reply(deadline_ns);
  awaited_id_ = 0;
  if (is_answered_) {
    if (is_sending_) is_down_ = true;  // the buffer is still in use
    return ExchangeOutcome::answered;
  }
  if (is_down_) return ExchangeOutcome::in_doubt;
  is_down_ = true;  // its late reply must not answer another request
  return ExchangeOutcome::timed_out;
}

}  // namespace falafel::stores
