// Scenarios in which the server's process dies, and the next one starts over its memory.
#pragma once

#include "fabric/random.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

// The server dies once or several times before the faults end.
void restart_warm(fabric::RandomGenerator& random, Scenario& scenario);

}  // namespace falafel::store_scenario
