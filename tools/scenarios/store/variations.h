// Varies random scenarios in ways other than size. Uses a separate random stream, so that the rest
// of a seed's scenario does not change.
#pragma once

#include "fabric/random.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

// `scenario` is a random scenario. Values that `choices` fix do not change.
void vary(const ScenarioChoices& choices, fabric::RandomGenerator& random, Scenario& scenario);

}  // namespace falafel::store_scenario
