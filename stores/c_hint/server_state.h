// The server at work: its fibers, and the requests that they pass to the shards.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "stores/c_hint/requests.h"
#include "stores/c_hint/server.h"
#include "stores/c_hint/shard.h"
#include "stores/c_hint/shard_thread.h"
#include "stores/exchange/exchange_server.h"
#include "stores/registered_memory.h"

namespace falafel::c_hint {

class ServerState final : public std::enable_shared_from_this<ServerState>,
                          public stores::ExchangeService {
 public:
  ServerState(fabric::Host& host, const Options& options, Backend* backend)
      : host_(host),
        options_(options),
        backend_(backend),
        incarnation_(host.random(0)),
        server_(host, server_ends_options(options)) {}

  // Errors: see Server::start.
  fabric::Result<void> start();
  // Does not wait.
  void stop();

  ServerInspection inspect() const;
  ServerStatistics statistics() const;
  fabric::MemoryBlock& memory() { return *items_.block; }
  const Shard& shard_of_hash(std::uint64_t hash) const {
    return *shards_[shard_of(hash, options_.shards)];
  }

 private:
  Verifier verifier() const;
  ServerHello hello() const;
  void admit(fabric::ConnectionRequest& request) override;
  bool serve(const stores::ServerEnds::Arrival& arrival) override;
  void start_shards();
  void dispatch(Request request);
  void hand_over(std::uint32_t shard, ShardWork work);
  void carry_out(std::uint32_t shard, ShardWork& work);
  void carry_out_report(std::uint32_t shard, ShardWork& work);
  ReportProgress progress_of(const Request& request) const;
  void reply(const Request& request, ReplyHeader header, std::span<const std::byte> value);
  void reply_by_write(const Request& request, ReplyHeader header,
                      std::span<const std::byte> contents);

  fabric::Host& host_;
  const Options options_;
  Backend* backend_;
  const std::uint64_t incarnation_;
  stores::ExchangeServer server_;
  stores::RegisteredMemory items_;
  std::vector<std::unique_ptr<Shard>> shards_;
  // One for each shard if there are communication threads. Otherwise empty.
  std::vector<std::unique_ptr<ShardThread>> threads_;
  std::vector<fabric::FiberId> fibers_;  // of these threads
  ServerStatistics statistics_;
};

}  // namespace falafel::c_hint
