#include "tools/scenarios/store/update_worlds.h"

namespace falafel::store_scenario {

void add_updates(fabric::RandomGenerator& random, Scenario& scenario) {
  for (ClientPlan& client : scenario.clients) {
    for (PlannedOperation& operation : client.operations) {
      const bool is_update = random.below(4) > 0;
      if (is_update && operation.kind == OperationKind::set) operation.kind = OperationKind::update;
    }
  }
}

}  // namespace falafel::store_scenario
