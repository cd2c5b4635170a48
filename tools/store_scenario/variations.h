// What drawn worlds vary in beside their size. Drawn from a stream of its own, which leaves the rest of a seed's
// world as it is.
#pragma once

#include "fabric/random.h"
#include "tools/store_scenario/scenario.h"

namespace falafel::store_scenario {

// `scenario` was drawn; what `choices` fix stays.
void vary(const ScenarioChoices& choices, fabric::RandomGenerator& random, Scenario& scenario);

}  // namespace falafel::store_scenario
