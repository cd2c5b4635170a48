// Scenarios in which clients wait for the end of all operations that have begun, as a change of a
// cluster does.
#pragma once

#include "fabric/random.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

void add_ends(fabric::RandomGenerator& random, Scenario& scenario);

}  // namespace falafel::store_scenario
