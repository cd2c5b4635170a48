// Scenarios in which the store is a cache: SETs have times to live, wall clocks differ, and half of
// the servers evict values and have little memory. Some SETs pin their values.
#pragma once

#include "fabric/random.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

// Makes a cache of the store, with room for as many containers as before unless it evicts values.
void make_cache(fabric::RandomGenerator& random, Scenario& scenario);

// Pins values that SETs of a cache store: in most caches some, so that a full one may have nothing
// to evict.
void pin_values(fabric::RandomGenerator& random, Scenario& scenario);

}  // namespace falafel::store_scenario
