// A queue pair with its buffers and completion queues, as client and server use it: receive
// requests are posted one by one, every SEND is signalled and waited for, and completions are taken
// one at a time (3.2).
//
// Several workers may share a port (UD). Any of them takes what arrives. One of those who
// have sent takes the completions of all, because a completion does not say for whom it wakes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/registered_memory.h"
#include "stores/two_sided/options.h"

namespace falafel::two_sided {

struct PortSizes {
  std::uint32_t received_bytes = 0;  // of a message, without the header of a datagram
  std::uint32_t sent_bytes = 0;
  std::uint32_t receive_buffers = 1;
  std::uint32_t receive_requests = 1;  // at a time; several may have the same buffer
  std::uint32_t send_buffers = 1;
};

struct Arrival {
  std::uint32_t buffer = 0;
  std::uint32_t length_bytes = 0;
  fabric::DatagramAddress source{};  // on UD
};

enum class PortOutcome : std::uint8_t { done, timed_out, broken };

class Port {
 public:
  // Errors: out_of_memory. `host` and `options` outlive the port.
  static fabric::Result<std::unique_ptr<Port>> create(fabric::Host& host, const Options& options,
                                                      const PortSizes& sizes);

  // For connecting or accepting; then attach the queue pair. The transport is that of the options,
  // or of the connection that tells the number of a UD queue pair.
  fabric::QueuePairOptions queue_pair_options(fabric::Transport transport) const;
  void attach(std::unique_ptr<fabric::QueuePair> queue_pair);
  const fabric::QueuePair& queue_pair() const { return *queue_pair_; }

  void post_receive(std::uint32_t buffer);
  // Waits. With fabric::CooperativeCancellation, a cancelled fiber times out.
  PortOutcome receive(Arrival& arrival, std::uint64_t deadline_ns);
  // Until the buffer is posted again.
  std::span<const std::byte> message(const Arrival& arrival) const;

  // Waits for the completion. A buffer is used by one fiber at a time. After timed_out, nothing may
  // be sent any more.
  PortOutcome send(std::uint32_t buffer, std::span<const std::byte> message,
                   const fabric::DatagramAddress& destination, std::uint64_t deadline_ns);

 private:
  Port(fabric::Host& host, const Options& options, const PortSizes& sizes);

  fabric::Result<void> prepare();
  std::uint32_t header_bytes() const;
  std::uint32_t receive_bytes() const { return header_bytes() + sizes_.received_bytes; }
  std::uint64_t receive_offset(std::uint32_t buffer) const {
    return std::uint64_t{buffer} * receive_bytes();
  }
  std::uint64_t send_offset(std::uint32_t buffer) const {
    return receive_offset(sizes_.receive_buffers) + std::uint64_t{buffer} * sizes_.sent_bytes;
  }
  PortOutcome take(fabric::CompletionQueue& completions, fabric::WorkCompletion& completion,
                   std::uint64_t deadline_ns);
  bool take_sent(std::uint64_t deadline_ns);
  bool waits_for_events() const;
  PortOutcome take_at_event(fabric::WorkCompletion& completion, std::uint64_t deadline_ns);
  bool take_event();

  fabric::Host& host_;
  const Options& options_;
  const PortSizes sizes_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  std::unique_ptr<fabric::CompletionQueue> sends_;
  stores::RegisteredMemory buffers_;
  // Completions of receive requests that events have announced, or that came without one.
  std::deque<fabric::WorkCompletion> arrived_;
  std::vector<std::optional<PortOutcome>> sent_;  // by buffer; absent: a SEND is in progress
  bool takes_sent_ = false;                       // somebody waits for the next completion
  std::unique_ptr<fabric::Event> taken_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;  // destroyed first
};

}  // namespace falafel::two_sided
