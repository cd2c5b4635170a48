// A worker of the server (3.1.4): it takes a request, carries it out, sends the response, and takes
// the next one, until a client closes its connection.
//
// On RC, UC and TCP, a worker has a port of its own, and serves one client. On UD, all workers
// share a port and serve whoever has sent, so a worker ends for each client that closes.
#pragma once

#include <cstdint>
#include <optional>

#include "fabric/fabric.h"
#include "stores/two_sided/layout.h"
#include "stores/two_sided/options.h"
#include "stores/two_sided/port.h"
#include "stores/two_sided/request_log.h"
#include "stores/two_sided/server.h"
#include "stores/two_sided/table.h"

namespace falafel::two_sided {

// The parts that all workers of a server share. They outlive the workers.
struct Shared {
  fabric::Host& host;
  const Options& options;
  Table& table;
  RequestLog& log;
  ServerStatistics& statistics;
};

class Worker {
 public:
  // Sends from the port's buffer `send_buffer`. Receive requests have been posted.
  Worker(const Shared& shared, Port& port, std::uint32_t send_buffer)
      : shared_(shared), port_(port), send_buffer_(send_buffer) {}

  // Waits. Returns the client whose connection has ended; none if the port or the server has ended.
  std::optional<std::int32_t> run();

 private:
  // The outcome of a request.
  struct Service {
    std::optional<Response> response{};
    bool closes = false;
  };

  PortOutcome receive(Arrival& arrival);
  Service serve(const Request& request);
  Response carry_out(const Request& request);
  Response get(std::span<const std::byte> key);

  const Shared shared_;
  Port& port_;
  const std::uint32_t send_buffer_;
};

}  // namespace falafel::two_sided
