#include "tools/scenarios/store/warm_restarts.h"

#include <algorithm>

namespace falafel::store_scenario {

void restart_warm(fabric::RandomGenerator& random, Scenario& scenario) {
  sim::SimulationOptions& options = scenario.simulation;
  scenario.keeps_memory = true;
  const std::uint64_t deaths = std::uint64_t{1} << random.below(5);
  options.set_fault_rate(sim::FaultKind::server_restart,
                         std::max<std::uint64_t>(20, options.last_fault_step / deaths));
}

}  // namespace falafel::store_scenario
