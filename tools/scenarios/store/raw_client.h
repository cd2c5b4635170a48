// A client controlled by its program: it connects like a client and then sends, reads and writes
// whatever the program wants. It plays silent, greedy or hostile clients, in scenarios and in
// tests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "engine/layout/control_message.h"
#include "engine/local_memory.h"
#include "fabric/fabric.h"

namespace falafel::store_scenario {

struct RawClientOptions {
  std::uint32_t receive_requests = 16;  // at most; without any it takes no message
  std::uint64_t connect_timeout_ns = 1'000'000'000;
  std::uint64_t acknowledge_timeout_ns = fabric::QueuePairOptions{}.acknowledge_timeout_ns;
  std::uint32_t receiver_not_ready_retry_count =
      fabric::QueuePairOptions{}.receiver_not_ready_retry_count;
};

class RawClient {
 public:
  // Waits. Returns null if the server refuses, or if its own memory cannot be allocated.
  static std::unique_ptr<RawClient> connect(fabric::Host& host, const fabric::Address& server,
                                            const RawClientOptions& options = {});

  const engine::ServerHello& hello() const { return hello_; }
  // As in GrowingServerHello; 0 if the table cannot grow.
  std::uint32_t later_tables_key() const { return later_tables_key_; }

  // Posts a message and waits for its completion. Returns false if the connection is broken.
  bool send(const engine::ControlMessage& message);
  // Posts `length_bytes` of a message.
  bool send_bytes(std::span<const std::byte> message);
  // The number of messages that have been posted.
  std::uint64_t sent() const { return sent_; }
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
  std::uint32_t later_tables_key_ = 0;
  std::uint64_t sent_ = 0;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  engine::LocalMemory messages_;
  engine::LocalMemory buffer_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
};

}  // namespace falafel::store_scenario
