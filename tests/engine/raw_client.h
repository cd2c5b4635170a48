// A client controlled by the test: it connects like a client and then sends, reads and writes
// whatever the test wants. It plays silent, greedy or malicious clients.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "engine/layout/control_message.h"
#include "engine/local_memory.h"
#include "fabric/fabric.h"

namespace falafel::engine_test {

class RawClient {
 public:
  // Waits. Returns null if the server refuses. Without receive requests, it cannot receive
  // messages.
  static std::unique_ptr<RawClient> connect(fabric::Host& host, const fabric::Address& server,
                                            std::uint32_t receive_requests = 16);

  const engine::ServerHello& hello() const { return hello_; }

  // Posts a message and waits for its completion. Returns false if the connection is broken.
  bool send(const engine::ControlMessage& message);
  // Posts `length_bytes` of a message.
  bool send_bytes(std::span<const std::byte> message);
  // The next message of the server; nullopt at the deadline or if the connection is broken.
  std::optional<engine::ControlMessage> receive(std::uint64_t deadline_ns);
  // Posts one request whose local buffer is `buffer`, and waits for its completion.
  bool execute(fabric::WorkRequest request);
  // 4 KiB for requests.
  const engine::LocalMemory& buffer() const { return buffer_; }

 private:
  RawClient() = default;
  void post_receive(std::uint64_t index);

  engine::ServerHello hello_{};
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  engine::LocalMemory messages_;
  engine::LocalMemory buffer_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
};

}  // namespace falafel::engine_test
