// The store in a timed run, for predictions: a server, clients on several machines, and the
// settings of the thesis' measurements.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/client/client.h"
#include "engine/server/server.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/timing/profile.h"

namespace falafel::figures {

struct TimedStore {
  const sim::timing::Profile& profile;
  engine::ServerOptions server;
  engine::ClientOptions client;
  std::uint32_t clients = 1;
  std::uint32_t machines = 1;  // that the clients are distributed among
  std::uint64_t seed = 1;
};

// A client that is connected, and the run that it is part of.
struct TimedClient {
  sim::Simulation& simulation;
  fabric::Host& host;
  engine::Client& client;
  std::uint32_t number;
};

// Runs `body` as each client. The run must complete.
void run_timed_store(const TimedStore& store, const std::function<void(TimedClient&)>& body);

}  // namespace falafel::figures
