// Runs an empty program on the simulator.
#include <falafel/fabric/fabric.h>
#include <falafel/fabric/sim/simulation.h>
#include <falafel/fabric/sim/strategies/make_strategy.h>
#include <cstdio>

int main() {
  const falafel::sim::SimulationOptions options;
  falafel::fabric::FiberStackPool stacks;
  const auto strategy = falafel::sim::make_strategy(options, 1);
  falafel::sim::Simulation simulation(options, *strategy, stacks);
  simulation.add_host({.name = "host"}, [](falafel::fabric::Host& host) { host.yield(); });
  const bool is_completed = simulation.run().outcome == falafel::sim::Outcome::completed;
  std::printf("simulator: %s\n", is_completed ? "ok" : "not completed");
}
