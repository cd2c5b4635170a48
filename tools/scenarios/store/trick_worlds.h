// Scenarios with a hostile client that plays tricks which the server must see through: it evades
// questions, releases regions of others, writes to what it has released, and hides keys that it has
// locked.
#pragma once

#include "fabric/random.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

// Replaces the attacks of the scenario.
void add_tricks(fabric::RandomGenerator& random, Scenario& scenario);

}  // namespace falafel::store_scenario
