// The server at work: it accepts clients, gives each a worker, and keeps the books.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "fabric/fabric.h"
#include "stores/two_sided/layout.h"
#include "stores/two_sided/port.h"
#include "stores/two_sided/request_log.h"
#include "stores/two_sided/server.h"
#include "stores/two_sided/table.h"
#include "stores/two_sided/worker.h"

namespace falafel::two_sided {

class ServerState : public std::enable_shared_from_this<ServerState> {
 public:
  ServerState(fabric::Host& host, const Options& options);

  // Errors: see Server::start.
  fabric::Result<void> start();
  // Does not wait.
  void stop();

  ServerInspection inspect() const;
  ServerStatistics statistics() const;

 private:
  // The resources of a worker. On UD, `port` is that of all workers, and `connection` is the one
  // that told the client where to send.
  struct Station {
    std::shared_ptr<Port> port;
    std::uint32_t send_buffer = 0;
  };

  fabric::Result<void> open_datagram_port();
  void admit(fabric::ConnectionRequest& request);
  fabric::Result<Station> make_station(fabric::ConnectionRequest& request, std::int32_t client);
  void spawn_worker(std::int32_t client, const Station& station);
  void work(std::uint64_t worker, std::int32_t client, const Station& station);

  fabric::Host& host_;
  const Options options_;
  std::unique_ptr<fabric::Listener> listener_;
  Table table_;
  RequestLog log_;
  ServerStatistics statistics_;
  std::int32_t next_client_ = 1;
  std::set<std::int32_t> clients_;  // connected
  // On UD.
  std::shared_ptr<Port> datagram_port_;
  std::vector<std::uint32_t> free_send_buffers_;
  std::map<std::int32_t, std::unique_ptr<Port>> side_channels_;  // by client

  std::uint64_t next_worker_ = 0;
  std::map<std::uint64_t, fabric::FiberId> workers_;
  std::optional<fabric::FiberId> acceptor_;
};

}  // namespace falafel::two_sided
