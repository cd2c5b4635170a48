// The server owns the memory, grants regions, collects garbage, cleans up the table, and monitors
// its clients. It does not take part in any GET, SET or DELETE.
//
// It runs as daemon fibers of its host: an acceptor, control (messages), membership (time-outs and
// fencing), region grants, the collector and the cleaner.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/layout/geometry.h"
#include "engine/layout/key_hash.h"
#include "engine/server/server_inspection.h"
#include "engine/server/server_options.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class ServerState;

class Server {
 public:
  // Waits until the server accepts connections. Errors: invalid_argument (an option out of range,
  // or kept memory that is not that of this store), out_of_memory, address_in_use, unsupported (a
  // device without atomics, or whose queues are too short), and those of Host::keep_memory. After
  // an error, the host and the service can be used again.
  static fabric::Result<std::unique_ptr<Server>> start(fabric::Host& host,
                                                       const ServerOptions& options);
  // Stops the server without waiting.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Runs a cleanup now, regardless of the threshold. Waits.
  void clean_up();

  const Geometry& geometry() const;
  const HashKey& hash_key() const;
  ServerInspection inspect() const;
  ServerBooks books() const;
  // The sum of the books' numbers of denied requests.
  std::uint64_t denials() const;
  // Returns whether the chunk has memory there: a container may be read.
  bool holds(std::uint64_t offset, std::uint64_t length_bytes) const;
  // The chunk, for checkers and other readers.
  fabric::MemoryBlock& memory();

 private:
  explicit Server(std::shared_ptr<ServerState> state);

  std::shared_ptr<ServerState> state_;
};

}  // namespace falafel::engine
