// Scenarios in which the memory grows.
#pragma once

#include "fabric/random.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

// The store has blocks, more than its keys need, and holds few of them. In half of the worlds, the
// system refuses memory at times.
void make_memory_grow(fabric::RandomGenerator& random, Scenario& scenario);

}  // namespace falafel::store_scenario
