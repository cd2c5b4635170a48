// The server at work: its fibers, and the requests that they pass to the shard.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "stores/c_hint/server.h"
#include "stores/c_hint/server_clients.h"
#include "stores/c_hint/shard.h"

namespace falafel::c_hint {

class ServerState : public std::enable_shared_from_this<ServerState> {
 public:
  ServerState(fabric::Host& host, const Options& options, Backend* backend)
      : host_(host), options_(options), backend_(backend) {}

  // Errors: see Server::start.
  fabric::Result<void> start();
  // Does not wait.
  void stop();

  ServerInspection inspect() const;
  ServerStatistics statistics() const;
  fabric::MemoryBlock& memory() { return *memory_; }
  const Shard& shard() const { return *shard_; }

 private:
  fabric::Result<void> prepare_memory();
  ServerHello hello() const;
  void spawn(const char* name, void (ServerState::*body)());
  void accept_clients();
  std::unique_ptr<fabric::ConnectionRequest> next_connection_request();
  void poll();
  void wait_for_completion();
  void serve(const Request& request);
  void serve_report(const Request& request);

  fabric::Host& host_;
  const Options options_;
  Backend* backend_;
  std::uint64_t incarnation_ = 0;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> completions_;
  std::unique_ptr<fabric::Listener> listener_;
  std::shared_ptr<fabric::MemoryBlock> memory_;
  std::unique_ptr<fabric::MemoryRegion> items_;
  std::optional<Shard> shard_;
  std::optional<ServerClients> clients_;
  bool is_busy_ = false;
  ServerStatistics statistics_;
  std::vector<fabric::FiberId> fibers_;
};

}  // namespace falafel::c_hint
