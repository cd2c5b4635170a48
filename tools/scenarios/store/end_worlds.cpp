#include "tools/scenarios/store/end_worlds.h"

namespace falafel::store_scenario {

// A sixth of the operations, and at least one, which follows an operation of the same client.
void add_ends(fabric::RandomGenerator& random, Scenario& scenario) {
  constexpr std::uint64_t operations_per_end = 6;
  const auto become_end = [](PlannedOperation& operation) {
    operation = {.kind = OperationKind::wait_for_end,
                 .pause_ns = operation.pause_ns,
                 .goodbye = operation.goodbye,
                 .cancel_after_ns = operation.cancel_after_ns};
  };
  for (ClientPlan& client : scenario.clients) {
    for (PlannedOperation& operation : client.operations) {
      if (random.below(operations_per_end) == 0) become_end(operation);
    }
  }
  become_end(scenario.clients.front().operations.back());
}

}  // namespace falafel::store_scenario
