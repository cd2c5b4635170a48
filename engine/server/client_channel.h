// The server's side of one client's messages: receive requests, an outbox, and the client's
// outstanding requests. All of them are bounded, regardless of the client's behavior.
//
// Credits provide back-pressure: a client may have at most `message_credits` messages whose receipt
// the server has not confirmed, and the server posts that many receive requests for it. Each
// message therefore finds a receive request; a missing one would delay the READs behind it. Every
// message of the server confirms the number of messages received, and the server sends a separate
// confirmation when half of the credits are used.
//
// A client that sends more messages, or repeats a request before the answer, violates the protocol.
// The outbox therefore holds at most one answer per credit and one request of each kind, even if
// the client receives nothing.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <tl/expected.hpp>

#include "engine/layout/control_message.h"
#include "engine/local_memory.h"
#include "engine/server/server_inspection.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class ClientChannel {
 public:
  static constexpr std::uint64_t receive_count = message_credits;
  static constexpr std::uint64_t send_count = 4;
  // Request identifiers; those of the receive buffers come first.
  static constexpr std::uint64_t buffer_count = receive_count + send_count;
  static constexpr std::uint64_t buffers_bytes = buffer_count * control_message_bytes;

  // Request identifiers consist of the buffer's number and, in the upper half, `client`.
  ClientChannel(std::uint32_t client, LocalMemory buffers);

  // All receive requests. They belong to the acceptance of the connection: the client may use its
  // credits as soon as it hears of that.
  std::array<fabric::ReceiveRequest, receive_count> receives() const;
  // The queue pair has all receive requests, and must outlive all later calls.
  void attach(fabric::QueuePair& queue_pair) { queue_pair_ = &queue_pair; }

  void send(const ControlMessage& message);
  void on_sent(std::uint64_t buffer);
  // Returns the message in that buffer, or the protocol violation, and reposts the buffer.
  tl::expected<ControlMessage, Breach> on_received(std::uint64_t buffer,
                                                   std::uint32_t length_bytes);
  // Confirms received messages to the client if a confirmation is due and no other message carries
  // it. Call after a message has been handled.
  void acknowledge_if_due();
  // The number of messages whose receipt no message to the client has confirmed.
  std::uint64_t unconfirmed() const { return received_ - acknowledged_; }

 private:
  fabric::ReceiveRequest receive_into(std::uint64_t buffer) const;
  void pump();
  std::optional<Breach> find_breach(const ControlMessage& message,
                                    std::uint32_t length_bytes) const;

  std::uint64_t id_of(std::uint64_t buffer) const;

  std::uint32_t client_;
  LocalMemory buffers_;
  fabric::QueuePair* queue_pair_ = nullptr;
  std::deque<ControlMessage> outbox_;
  std::array<bool, send_count> sending_{};
  std::uint64_t received_ = 0;
  std::uint64_t acknowledged_ = 0;  // the number that messages to the client have confirmed
  bool requested_region_ = false;   // the client has an unanswered request
};

}  // namespace falafel::engine
