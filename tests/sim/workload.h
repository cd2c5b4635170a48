// A small program for tests of the simulator: clients that READ, WRITE, CAS, FETCH_ADD and SEND to
// one server, each on its own connection, and reconnect when it breaks. Every kind of fault can
// affect it.
#pragma once

#include <cstdint>

#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/strategy.h"

namespace falafel::sim {

struct Workload {
  std::uint32_t clients = 2;
  std::uint32_t operations = 6;  // per client
};

RunResult run_workload(const Workload& workload, const SimulationOptions& options,
                       Strategy& strategy, fabric::FiberStackPool& stacks,
                       TraceObserver* observer = nullptr);

}  // namespace falafel::sim
