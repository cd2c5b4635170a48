// Scenarios in which clients change values depending on what they are.
#pragma once

#include "fabric/random.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

// Three quarters of the SETs become updates. Not for caches, whose values come and go by
// themselves, nor for clients that scan.
void add_updates(fabric::RandomGenerator& random, Scenario& scenario);

}  // namespace falafel::store_scenario
