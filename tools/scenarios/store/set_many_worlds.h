// Scenarios in which clients store several values with one call of set_many(). Each of its SETs is
// in the history from when it begins until it ends, and the call must return the answer of each.
#pragma once

#include "fabric/random.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

void add_set_many(fabric::RandomGenerator& random, Scenario& scenario);

}  // namespace falafel::store_scenario
