#include "tools/scenarios/store/set_many_worlds.h"

#include <algorithm>

namespace falafel::store_scenario {

// At least one client sets many. A third of the GETs and DELETEs behind a SET of such a client
// become SETs of their keys, so that several come in a row.
void add_set_many(fabric::RandomGenerator& random, Scenario& scenario) {
  for (ClientPlan& client : scenario.clients) {
    if (random.below(2) == 0 && &client != &scenario.clients.front()) continue;
    client.fibers = 1;
    client.batch = static_cast<std::uint32_t>(2 + random.below(3));
    client.sets_many = true;
    for (std::size_t index = 1; index < client.operations.size(); ++index) {
      const PlannedOperation& before = client.operations[index - 1];
      PlannedOperation& operation = client.operations[index];
      const bool may_become_set =
          operation.kind == OperationKind::get || operation.kind == OperationKind::remove;
      if (before.kind != OperationKind::set || !may_become_set || random.below(3) != 0) continue;
      operation.kind = OperationKind::set;
      operation.value_bytes = before.value_bytes;
      operation.time_to_live_ns = before.time_to_live_ns;
    }
  }
}

}  // namespace falafel::store_scenario
