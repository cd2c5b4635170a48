#include "tools/scenarios/store/raw_client.h"

#include <cstring>

namespace falafel::store_scenario {

using engine::control_message_bytes;
using engine::ControlMessage;

namespace {
constexpr std::uint32_t receive_count = 16;
constexpr std::uint64_t buffer_bytes = 4'096;
}  // namespace

std::unique_ptr<RawClient> RawClient::connect(fabric::Host& host, const fabric::Address& server,
                                              const RawClientOptions& options) {
  std::unique_ptr<RawClient> client(new RawClient());
  fabric::Device& device = host.device(0);
  client->domain_ = device.create_protection_domain();
  client->sends_ = device.create_completion_queue(receive_count).value();
  client->receives_ = device.create_completion_queue(receive_count).value();
  auto messages =
      engine::allocate_local_memory(host, *client->domain_, receive_count * control_message_bytes);
  auto buffer = engine::allocate_local_memory(host, *client->domain_, buffer_bytes);
  if (!messages || !buffer) return nullptr;
  client->messages_ = std::move(*messages);
  client->buffer_ = std::move(*buffer);
  auto connection = device.connect(
      server,
      {.protection_domain = client->domain_.get(),
       .send_completions = client->sends_.get(),
       .receive_completions = client->receives_.get(),
       .max_send_requests = receive_count,
       .max_receive_requests = receive_count,
       .acknowledge_timeout_ns = options.acknowledge_timeout_ns,
       .receiver_not_ready_retry_count = options.receiver_not_ready_retry_count},
      engine::to_bytes(engine::ClientHello{}), host.now_ns() + options.connect_timeout_ns);
  if (!connection) return nullptr;
  client->queue_pair_ = std::move(connection->queue_pair);
  const auto hello = engine::from_bytes<engine::ServerHello>(connection->private_data);
  if (!hello) return nullptr;
  client->hello_ = *hello;
  const auto growing = engine::from_bytes<engine::GrowingServerHello>(connection->private_data);
  if (growing) client->later_tables_key_ = growing->later_tables_key;
  for (std::uint64_t index = 0; index < options.receive_requests; ++index)
    client->post_receive(index);
  return client;
}

void RawClient::post_receive(std::uint64_t index) {
  const fabric::ReceiveRequest request{.id = index,
                                       .local = messages_.at(index * control_message_bytes),
                                       .length_bytes = control_message_bytes};
  const auto posted = queue_pair_->post_receive({&request, 1});
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
}

bool RawClient::send(const ControlMessage& message) {
  return send_bytes(engine::bytes_of(message));
}

bool RawClient::send_bytes(std::span<const std::byte> message) {
  std::memcpy(buffer_.bytes(0, message.size()).data(), message.data(), message.size());
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::send;
  request.length_bytes = static_cast<std::uint32_t>(message.size());
  request.local = buffer_.at(0);
  ++sent_;
  return execute(request);
}

bool RawClient::execute(fabric::WorkRequest request) {
  if (!queue_pair_->post_send({&request, 1})) return false;
  sends_->wait(fabric::never_ns);
  fabric::WorkCompletion completion;
  return sends_->poll({&completion, 1}) == 1 &&
         completion.status == fabric::CompletionStatus::success;
}

std::optional<ControlMessage> RawClient::receive(std::uint64_t deadline_ns) {
  if (!receives_->wait(deadline_ns)) return std::nullopt;
  fabric::WorkCompletion completion;
  if (receives_->poll({&completion, 1}) == 0 ||
      completion.status != fabric::CompletionStatus::success) {
    return std::nullopt;
  }
  const auto message = engine::from_bytes<ControlMessage>(
      messages_.bytes(completion.id * control_message_bytes, control_message_bytes));
  post_receive(completion.id);
  return message;
}

}  // namespace falafel::store_scenario
