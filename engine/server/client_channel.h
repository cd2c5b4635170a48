// One client's messages, as the server has them: receive requests, an outbox, and what a client may have
// under way. All of it is bounded, whatever the client does.
//
// Credits: the client has at most `message_credits` messages in the network for which the server has not said
// that it received them, and so many receive requests are posted here. So none of its messages ever meets a
// server without a receive request, which would hold up the READs behind it. The server says how many it has
// received in every message, and in one of its own when half of the credits are used up. A client that sends
// more, or asks again before it was answered, breaks the protocol; so the outbox holds no more than an answer
// for each credit and a question of each kind, also if the client takes none of them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <tl/expected.hpp>

#include "engine/layout/control_message.h"
#include "engine/local_memory.h"
#include "engine/server/server.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class ClientChannel {
 public:
  static constexpr std::uint64_t receive_count = message_credits;
  static constexpr std::uint64_t send_count = 4;
  // Identify what completes: receive buffers come first.
  static constexpr std::uint64_t buffer_count = receive_count + send_count;
  static constexpr std::uint64_t buffers_bytes = buffer_count * control_message_bytes;

  // Identifiers of requests are those of the buffers, and `client` in the upper half.
  ClientChannel(std::uint32_t client, LocalMemory buffers);

  // Begins to receive. The queue pair outlives the channel's last call.
  void open(fabric::QueuePair& queue_pair);

  void send(const ControlMessage& message);
  void on_sent(std::uint64_t buffer);
  // What has come into that buffer, or what is wrong with it. The buffer can be received into again.
  tl::expected<ControlMessage, Breach> on_received(std::uint64_t buffer,
                                                   std::uint32_t length_bytes);
  // Tells the client how many messages have come, if it needs to know and is told nothing else. To be called
  // when a message has been dealt with.
  void acknowledge_if_due();

 private:
  void post_receives(std::uint64_t first, std::uint64_t count);
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
  std::uint64_t acknowledged_ = 0;  // of these, as far as messages to the client say
  bool requested_region_ = false;   // and was not answered
};

}  // namespace falafel::engine
