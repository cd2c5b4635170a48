// Scenarios in which the table grows.
#pragma once

#include "fabric/random.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

// The table begins with a few entries, and the clients use more keys than that.
void make_table_grow(fabric::RandomGenerator& random, Scenario& scenario);

}  // namespace falafel::store_scenario
