// Draws the attacks of a hostile client.
#pragma once

#include "fabric/random.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

// `scenario` is complete otherwise. In some scenarios the client attacks by messages alone, in
// others it also attacks one or two slots of the table.
void add_hostile_client(fabric::RandomGenerator& random, Scenario& scenario);

}  // namespace falafel::store_scenario
