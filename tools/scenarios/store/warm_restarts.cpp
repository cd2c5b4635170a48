#include "tools/scenarios/store/warm_restarts.h"

#include <algorithm>

namespace falafel::store_scenario {
namespace {

PlannedOperation operation_on_few_keys(fabric::RandomGenerator& random, std::uint64_t keys,
                                       PlannedOperation operation) {
  const std::uint64_t kind = random.below(5);
  operation.kind = kind < 2   ? OperationKind::set
                   : kind < 4 ? OperationKind::remove
                              : OperationKind::get;
  if (operation.kind != OperationKind::set) operation.value_bytes = 0;
  operation.key = static_cast<std::uint32_t>(random.below(keys));
  return operation;
}

// Clients store and delete few keys, and each deleted entry is removed at once. Few other faults
// strike, and the process dies after rare events, so it often dies while it moves something.
void die_while_moving(fabric::RandomGenerator& random, Scenario& scenario) {
  const std::uint64_t keys = std::max<std::uint64_t>(2, scenario.geometry.table_entries - 1);
  for (ClientPlan& client : scenario.clients) {
    for (PlannedOperation& operation : client.operations) {
      operation = operation_on_few_keys(random, std::min<std::uint64_t>(keys, 4), operation);
    }
  }
  scenario.cleanup_percent = 0;
  scenario.cleanup_interval_ns = std::uint64_t{2'000} << random.below(4);
  scenario.pipelined_updates = 8;
  sim::SimulationOptions& options = scenario.simulation;
  options.fault_rates = {};
  options.last_fault_step = std::uint64_t{800} << random.below(3);
  options.set_fault_rate(sim::FaultKind::server_restart, options.last_fault_step / 2);
  options.fault_after_probe = 2 + random.below(4);
  if (random.below(2) == 0) options.set_fault_rate(sim::FaultKind::queue_pair_error, 100);
}

}  // namespace

void restart_warm(fabric::RandomGenerator& random, Scenario& scenario) {
  sim::SimulationOptions& options = scenario.simulation;
  scenario.keeps_memory = true;
  const std::uint64_t deaths = std::uint64_t{1} << random.below(5);
  options.set_fault_rate(sim::FaultKind::server_restart,
                         std::max<std::uint64_t>(20, options.last_fault_step / deaths));
  if (random.below(2) == 0) die_while_moving(random, scenario);
}

}  // namespace falafel::store_scenario
