// The objects of either side of a connection whose cost is measured: memory in one region, and one
// completion queue.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"

namespace falafel::figures {

struct RequestLimits {
  std::uint32_t sends = 0;
  std::uint32_t receives = 0;
};

struct CardSide {
  CardSide(fabric::Host& host, std::uint64_t memory_bytes, std::uint32_t most_completions,
           fabric::Access access)
      : domain(host.device(0).create_protection_domain()),
        completions(host.device(0).create_completion_queue(most_completions).value()),
        memory(host.allocate_memory(memory_bytes).value()),
        region(domain->register_memory(memory, 0, memory_bytes, access).value()) {}

  fabric::QueuePairOptions options(
      RequestLimits limits,
      fabric::Transport transport = fabric::Transport::reliable_connection) const {
    return {.transport = transport,
            .protection_domain = domain.get(),
            .send_completions = completions.get(),
            .receive_completions = completions.get(),
            .max_send_requests = limits.sends,
            .max_receive_requests = limits.receives};
  }

  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::unique_ptr<fabric::CompletionQueue> completions;
  std::shared_ptr<fabric::MemoryBlock> memory;
  std::unique_ptr<fabric::MemoryRegion> region;
};

}  // namespace falafel::figures
