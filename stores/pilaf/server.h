// The server of Pilaf (Mitchell, Geng, Li: Using One-Sided RDMA Reads to Build a Fast,
// CPU-Efficient Key-Value Store, USENIX ATC 2013). It carries out all PUTs and DELETEs, which
// arrive as messages. GETs are READs of its memory and do not concern it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "stores/pilaf/layout.h"
#include "stores/pilaf/options.h"
#include "stores/pilaf/update_log.h"

namespace falafel::pilaf {

struct ServerStatistics {
  std::uint64_t clients_connected = 0;  // currently
  std::uint64_t keys = 0;               // currently
  std::uint64_t requests = 0;           // served
  std::uint64_t requests_repeated = 0;  // answered from memory (request deduplication)
  std::uint64_t malformed_requests = 0;
  std::uint64_t table_growths = 0;
  std::uint64_t extents_growths = 0;
  std::uint64_t busy_ns = 0;  // from a completion until it was handled
};

// The server's memory and books, for checkers.
struct ServerInspection {
  Geometry geometry;
  std::uint32_t ways = 0;
  std::vector<std::byte> memory;                     // the table, then the extents
  std::map<std::uint64_t, std::uint64_t> allocated;  // sizes of blocks of the extents, by offset
  std::uint64_t free_bytes = 0;                      // of the extents
  stores::Checksum checksum{};                       // of the extents
  bool is_busy = false;                              // in the middle of a request
  LogStatistics log{};                               // zero without a log
  ServerStatistics statistics{};
};

class ServerState;

class Server {
 public:
  // The server runs as daemon fibers of the host: one accepts connections, one polls for
  // completions and does everything else (Pilaf 4), and one writes the log. It starts with the
  // contents of its log. Errors: invalid_argument (an option out of range), out_of_memory,
  // address_in_use, and those of fabric::Host::keep_memory.
  static fabric::Result<std::unique_ptr<Server>> start(fabric::Host& host, const Options& options);
  // Stops the server without waiting. Changes that the log has not written are lost.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  ServerInspection inspect() const;
  ServerStatistics statistics() const;
  // The table, then the extents. Another block after the server has grown.
  fabric::MemoryBlock& memory();
  const Geometry& geometry() const;

 private:
  explicit Server(std::shared_ptr<ServerState> state);

  std::shared_ptr<ServerState> state_;
};

}  // namespace falafel::pilaf
