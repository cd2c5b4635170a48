// A queue pair as the responder: what the requests of its peer meet here. It admits them by key, protection
// domain, bounds and rights, keeps the words of atomics, and delivers messages into receive buffers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fabric/sim/connection.h"
#include "fabric/sim/receive_queue.h"

namespace falafel::sim {

struct Region;

class Responder {
 public:
  Responder(Connection& connection, ReceiveQueue& receives,
            CompletionQueueCore& receive_completions, QueuePairCore& queue_pair)
      : connection_(connection),
        receives_(receives),
        receive_completions_(receive_completions),
        queue_pair_(queue_pair) {}

  bool is_ready() const { return connection_.is_ready(); }
  // The region that the request names, if it is admitted; otherwise null.
  Region* admitted_region(const fabric::WorkRequest& work) const;
  // The device whose atomics exclude each other.
  DeviceCore& device() const { return connection_.device(); }

  bool has_receive_request() const { return !receives_.empty(); }
  std::uint32_t next_buffer_bytes() const { return receives_.front().length_bytes; }
  // Puts a message of `length_bytes` into the buffer of the oldest receive request, which is long enough, and
  // completes that. `sender` and `request` are the message's.
  void deliver(const Connection& sender, const Request& request);
  // The oldest receive request fails, because the message is too long for it.
  void fail_receive();
  // The oldest receive request completes without a message.
  void flush_receive();
  // The peer's request was refused: this side fails too.
  void fail_access();

 private:
  void complete_receive(fabric::WorkCompletion completion, std::uint64_t shows_before);

  Connection& connection_;
  ReceiveQueue& receives_;
  CompletionQueueCore& receive_completions_;
  QueuePairCore& queue_pair_;
};

}  // namespace falafel::sim
