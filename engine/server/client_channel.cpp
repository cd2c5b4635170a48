#include "engine/server/client_channel.h"

#include <utility>

#include "engine/copy_bytes.h"

namespace falafel::engine {
namespace {

bool comes_from_clients(MessageKind kind) {
  switch (kind) {
    case MessageKind::request_region:
    case MessageKind::release_region:
    case MessageKind::heartbeat:
    case MessageKind::goodbye:
    case MessageKind::request_cleanup:
    case MessageKind::report_accesses:
    case MessageKind::request_end:
    case MessageKind::operations_ended:
    case MessageKind::report_freed: return true;
    case MessageKind::grant_region:
    case MessageKind::deny_region:
    case MessageKind::ask_for_quiescence:
    case MessageKind::acknowledge:
    case MessageKind::cleanup_done:
    case MessageKind::return_regions:
    case MessageKind::ask_for_end:
    case MessageKind::all_ended: break;
  }
  return false;
}

}  // namespace

ClientChannel::ClientChannel(std::uint32_t client, LocalMemory buffers)
    : client_(client), buffers_(std::move(buffers)) {}

std::uint64_t ClientChannel::id_of(std::uint64_t buffer) const {
  return std::uint64_t{client_} << 32 | buffer;
}

std::array<fabric::ReceiveRequest, ClientChannel::receive_count> ClientChannel::receives() const {
  std::array<fabric::ReceiveRequest, receive_count> chain;
  for (std::uint64_t buffer = 0; buffer < receive_count; ++buffer) {
    chain[buffer] = receive_into(buffer);
  }
  return chain;
}

fabric::ReceiveRequest ClientChannel::receive_into(std::uint64_t buffer) const {
  return {.id = id_of(buffer),
          .local = buffers_.at(buffer * control_message_bytes),
          .length_bytes = control_message_bytes};
}

// Messages to the client

void ClientChannel::send(const ControlMessage& message) {
  const bool answers_request =
      message.kind == MessageKind::grant_region || message.kind == MessageKind::deny_region;
  if (answers_request) requested_region_ = false;
  outbox_.push_back(message);
  pump();
}

void ClientChannel::pump() {
  for (std::uint64_t index = 0; index < send_count && !outbox_.empty(); ++index) {
    if (sending_[index]) continue;
    sending_[index] = true;
    const std::uint64_t buffer = receive_count + index;
    const std::uint64_t offset = buffer * control_message_bytes;
    ControlMessage& message = outbox_.front();
    message.received = received_;
    acknowledged_ = received_;
    copy_bytes(bytes_of(message), buffers_.bytes(offset, control_message_bytes).data());
    outbox_.pop_front();
    fabric::WorkRequest request;
    request.id = id_of(buffer);
    request.opcode = fabric::Opcode::send;
    request.length_bytes = control_message_bytes;
    request.local = buffers_.at(offset);
    const auto posted = queue_pair_->post_send({&request, 1});
    FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  }
}

void ClientChannel::on_sent(std::uint64_t buffer) {
  sending_[buffer - receive_count] = false;
  pump();
}

void ClientChannel::acknowledge_if_due() {
  if (received_ - acknowledged_ < message_credits / 2 || !outbox_.empty()) return;
  send({.kind = MessageKind::acknowledge});
}

// Messages from the client

tl::expected<ControlMessage, Breach> ClientChannel::on_received(std::uint64_t buffer,
                                                                std::uint32_t length_bytes) {
  const auto message = *from_bytes<ControlMessage>(
      buffers_.bytes(buffer * control_message_bytes, control_message_bytes));
  ++received_;
  const fabric::ReceiveRequest receive = receive_into(buffer);
  const auto posted = queue_pair_->post_receive({&receive, 1});
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  if (const auto breach = find_breach(message, length_bytes)) return tl::unexpected(*breach);
  if (message.kind == MessageKind::request_region) requested_region_ = true;
  return message;
}

std::optional<Breach> ClientChannel::find_breach(const ControlMessage& message,
                                                 std::uint32_t length_bytes) const {
  if (length_bytes != control_message_bytes || !comes_from_clients(message.kind)) {
    return Breach::malformed_message;
  }
  if (received_ - acknowledged_ > message_credits) return Breach::too_many_messages;
  if (message.kind == MessageKind::request_region && requested_region_) {
    return Breach::too_many_messages;
  }
  return std::nullopt;
}

}  // namespace falafel::engine
