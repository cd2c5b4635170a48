// Scenarios in which clients scan all keys.
#pragma once

#include "fabric/random.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

// Turns some operations into scans, which read the table in chunks of one to four entries.
// `scenario` is complete otherwise. In half of the worlds nobody removes one of the keys, in more
// than half the server cleans up after each removal, and in half its program requests cleanups all
// the time. In half of those without a hostile client, a client fills a chain and removes all of
// its keys but the last one, which the cleanup then moves.
void add_scans(fabric::RandomGenerator& random, Scenario& scenario);

}  // namespace falafel::store_scenario
