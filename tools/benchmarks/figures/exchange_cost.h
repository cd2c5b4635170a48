// The cost of exchanging messages in a timed run: a client sends a request, the server answers it
// at once, and the client sends the next one. The server has one thread for all its clients. This
// is the measurement of section 2.1 of Pilaf's paper.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"
#include "fabric/sim/timing/profile.h"

namespace falafel::figures {

struct ExchangeLoad {
  fabric::Transport transport = fabric::Transport::reliable_connection;  // or a message stream
  std::uint32_t request_bytes = 16;
  std::uint32_t reply_bytes = 10;
  std::uint32_t clients = 1;
  std::uint32_t machines = 1;     // that the clients are distributed among
  std::uint64_t exchanges = 100;  // of each client
  std::uint64_t seed = 1;
};

struct ExchangeCost {
  double latency_ns = 0;            // mean, from posting the request until the reply was polled
  double exchanges_per_second = 0;  // of all clients
};

// The run must complete.
ExchangeCost measure_exchanges(const sim::timing::Profile& profile, const ExchangeLoad& load);

}  // namespace falafel::figures
