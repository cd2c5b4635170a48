// The server of C-Hint in HydraDB (Wang, Meng, Zhang, Tan: C-Hint: An Effective and Reliable Cache
// Management for RDMA-Accelerated Key-Value Stores, SoCC 2014). It carries out SETs, REMOVEs and
// the GETs that arrive as messages; other GETs are READs of its memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "stores/c_hint/backend.h"
#include "stores/c_hint/directory.h"
#include "stores/c_hint/options.h"
#include "stores/c_hint/shard.h"

namespace falafel::c_hint {

struct ServerStatistics {
  std::uint64_t clients_connected = 0;  // currently
  std::uint64_t items = 0;              // currently
  std::uint64_t requests = 0;           // served
  std::uint64_t malformed_requests = 0;
  std::uint64_t concurrent_requests = 0;  // begun by a shard while another one was busy
  std::uint64_t busy_ns = 0;  // from a completion until it was handled, and of shards' threads
  ShardStatistics shard{};
  DirectoryStatistics directory{};
};

// The server's memory and books, for checkers.
struct ServerInspection {
  Verifier verifier;
  std::vector<std::byte> memory;  // the items
  std::map<Item, Descriptor> descriptors;
  std::map<std::uint64_t, std::uint64_t> allocated;     // sizes of blocks, by offset
  std::multimap<std::uint64_t, std::uint64_t> waiting;  // offsets of blocks, by end of lease
  std::uint64_t free_bytes = 0;
  bool is_busy = false;  // in the middle of a request
  ServerStatistics statistics{};
};

class ServerState;

class Server {
 public:
  // The server runs as daemon fibers of the host: one accepts connections, and the shards and
  // communication threads of the options do everything else. `backend` outlives the server; null:
  // there is none, so what is evicted is lost. Errors: invalid_argument (an option out of range),
  // out_of_memory, address_in_use.
  static fabric::Result<std::unique_ptr<Server>> start(fabric::Host& host, const Options& options,
                                                       Backend* backend = nullptr);
  // Stops the server without waiting.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  ServerInspection inspect() const;
  ServerStatistics statistics() const;
  // The items.
  fabric::MemoryBlock& memory();
  const Directory& directory_of(Item item) const;

 private:
  explicit Server(std::shared_ptr<ServerState> state);

  std::shared_ptr<ServerState> state_;
};

}  // namespace falafel::c_hint
