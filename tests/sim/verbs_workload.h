// A small program for tests of the simulator that uses what workload.h does not: all transports but
// UD, immediate numbers, segments, masked atomics, inlined, unsignalled and fenced requests, shared
// receive queues, waits for words and for a peer that closes. Every kind of fault can affect it.
#pragma once

#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/strategy.h"
#include "fabric/sim/timing/profile.h"

namespace falafel::sim {

// `profile`: of a timed run; null otherwise.
RunResult run_verbs_workload(const SimulationOptions& options, Strategy& strategy,
                             fabric::FiberStackPool& stacks,
                             const timing::Profile* profile = nullptr);

}  // namespace falafel::sim
