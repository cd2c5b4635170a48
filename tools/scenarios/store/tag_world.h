// Scenarios in which tags wrap around while a client pauses, which heartbeats protect against
// (Behringer 4.2.3).
//
// No run makes 2^30 changes of an entry, so tags have only a few bits here. All clients work on one
// key, each at a steady rate. A client that pauses during an operation, or whose compare-and-swap
// is delayed in the network, finds a tag that has wrapped around, unless the server gave up on it
// earlier. The server does so in time only if
//
//   2^tag_bits > changes of an entry in the longest time that an operation can last,
//
// which is twice the heartbeat time-out plus the time that the server takes to detect and fence the
// client (docs/protocol.md, "The table"). The rate therefore follows from the time-out, and the
// number of bits from both. If clients have location caches, the time for which these trust an
// entry comes on top.
//
// A remembered entry returns only if its container's place does. In half of the scenarios with
// location caches, the memory is therefore small, and one client pauses between two operations
// instead of during one.
#pragma once

#include "fabric/random.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

// Turns a random scenario into such a scenario.
void make_tag_world(fabric::RandomGenerator& random, Scenario& scenario);

// The table of such a scenario begins with one or two entries. A third of the operations use other
// keys, so it grows while tags wrap around.
void let_table_of_tag_world_grow(fabric::RandomGenerator& random, Scenario& scenario);

// Returns whether tags outlast operations according to the relation above. Tags with all their bits
// do.
bool do_tags_outlast_operations(const Scenario& scenario);

}  // namespace falafel::store_scenario
