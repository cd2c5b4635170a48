// Queue pairs that connect the server's device to itself, so that the server can use its atomics.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/server/server_options.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// One end of the connection with its completion queue.
struct LoopbackEnd {
  std::unique_ptr<fabric::CompletionQueue> completions;
  std::unique_ptr<fabric::QueuePair> queue_pair;
};

struct LoopbackPair {
  LoopbackEnd near;  // the server posts requests here
  LoopbackEnd far;
};

class LoopbackConnector {
 public:
  LoopbackConnector(fabric::Host& host, fabric::ProtectionDomain& domain,
                    const ServerOptions& options);

  // Waits until the server's acceptor has passed the far end to this connector.
  LoopbackPair connect();
  // For the acceptor: checks whether a request with this secret comes from connect(), and accepts
  // it.
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
