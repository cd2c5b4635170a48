// Runs fibers of a single simulated host.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "fabric/fabric.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"

namespace falafel::nessie_test {

inline void on_one_host(const std::function<void(fabric::Host&)>& body, std::uint64_t seed = 1) {
  fabric::FiberStackPool stacks;
  const sim::SimulationOptions options;
  const auto strategy = sim::make_strategy(options, seed);
  sim::Simulation simulation(options, *strategy, stacks);
  simulation.add_host({.name = "node"}, body);
  ASSERT_EQ(simulation.run().outcome, sim::Outcome::completed);
}

}  // namespace falafel::nessie_test
