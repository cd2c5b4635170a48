// A client by hand: it connects like a client and then says, reads and writes what the test likes. For
// parties that are silent, greedy or hostile.
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
  // Waits. Null if the server refuses. Takes no message without receive requests.
  static std::unique_ptr<RawClient> connect(fabric::Host& host, const fabric::Address& server,
                                            std::uint32_t receive_requests = 16);

  const engine::ServerHello& hello() const { return hello_; }

  // Posts a message and waits for its completion. False if the connection is broken.
  bool send(const engine::ControlMessage& message);
  // Posts `length_bytes` of a message.
  bool send_bytes(std::span<const std::byte> message);
  // The next message of the server; none at the deadline, or if the connection is broken.
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
