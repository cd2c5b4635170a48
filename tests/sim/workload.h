// A small program for tests of the simulator itself: clients that READ, WRITE, CAS, add and send to one
// server, each on its own connection, reconnecting when it breaks. Every fault kind can strike it.
#pragma once

#include <cstdint>

#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategy.h"

namespace falafel::sim {

struct Workload {
  std::uint32_t clients = 2;
  std::uint32_t operations = 6;  // of each client
};

RunResult run_workload(const Workload& workload, const SimulationOptions& options,
                       Strategy& strategy, fabric::FiberStackPool& stacks,
                       TraceObserver* observer = nullptr);

}  // namespace falafel::sim
