// Queue pairs that connect the server's device with itself, for its own atomics.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/server/server.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// One side with its completion queue.
struct LoopbackEnd {
  std::unique_ptr<fabric::CompletionQueue> completions;
  std::unique_ptr<fabric::QueuePair> queue_pair;
};

struct LoopbackPair {
  LoopbackEnd near;  // requests are posted here
  LoopbackEnd far;
};

class LoopbackConnector {
 public:
  LoopbackConnector(fabric::Host& host, fabric::ProtectionDomain& domain,
                    const ServerOptions& options);

  // Waits until the server's acceptor has handed the far end over.
  LoopbackPair connect();
  // For the acceptor: whether a request with this secret comes from connect(), and to take it.
  bool is_own(std::uint64_t loopback_secret) const { return loopback_secret == secret_; }
  void accept(fabric::ConnectionRequest& request);

 private:
  LoopbackEnd make_end() const;
  fabric::QueuePairOptions queue_pair_options(const LoopbackEnd& end) const;

  fabric::Host& host_;
  fabric::ProtectionDomain& domain_;
  const ServerOptions& options_;
  std::uint64_t secret_;
  std::vector<LoopbackEnd> accepted_;
  std::unique_ptr<fabric::Event> accepted_event_;
  bool connecting_ = false;
};

}  // namespace falafel::engine
