// The server of Troost's store (Troost: a bachelor's thesis on the scalability of RDMA transports
// for key-value stores, Vrije Universiteit Amsterdam). It carries out all operations, which arrive
// as messages. Each client has a worker.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"
#include "stores/two_sided/options.h"
#include "stores/two_sided/table.h"

namespace falafel::two_sided {

struct ServerStatistics {
  std::uint64_t clients_connected = 0;  // currently
  std::uint64_t workers = 0;            // currently
  std::uint64_t busy_workers = 0;       // currently, from a request until its response was sent
  std::uint64_t pairs = 0;              // currently
  std::uint64_t table_bytes = 0;        // that the table takes
  std::uint64_t requests = 0;           // carried out
  std::uint64_t requests_repeated = 0;  // not carried out again (request deduplication)
  std::uint64_t malformed_requests = 0;
  std::uint64_t busy_ns = 0;  // of all workers
};

// The server's memory and books, for checkers.
struct ServerInspection {
  Options options;
  TableInspection table;
  ServerStatistics statistics;
};

class ServerState;

class Server {
 public:
  // The server runs as daemon fibers of the host: one accepts connections, and the others are the
  // workers. Errors: invalid_argument (an option out of range), out_of_memory, address_in_use.
  static fabric::Result<std::unique_ptr<Server>> start(fabric::Host& host, const Options& options);
  // Stops the server without waiting.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  ServerInspection inspect() const;
  ServerStatistics statistics() const;

 private:
  explicit Server(std::shared_ptr<ServerState> state);

  std::shared_ptr<ServerState> state_;
};

}  // namespace falafel::two_sided
