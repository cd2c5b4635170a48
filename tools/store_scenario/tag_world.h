// Worlds in which tags come round while somebody pauses: what heartbeats are for (Behringer 4.2.3).
//
// No run makes 2^30 changes of an entry, so tags have a few bits here. All clients work on one key, each at
// a steady pace; a client that pauses in the middle of an operation, or whose compare-and-swap is held up on
// its way, meets a tag that has come round, unless the server has given it up before. That it does so in time
// holds only where
//
//   2^tag_bits > changes of an entry in the longest time that an operation can last,
//
// which is twice the heartbeat time-out and what the server takes to notice and to fence
// (docs/protocol.md, "The table"). So the pace follows from the time-out, and the bits from both.
#pragma once

#include "fabric/random.h"
#include "tools/store_scenario/scenario.h"

namespace falafel::store_scenario {

// Makes such a world of a scenario that was drawn.
void make_tag_world(fabric::RandomGenerator& random, Scenario& scenario);

// Whether tags outlast operations, by the relation above. Where tags have all their bits they do.
bool do_tags_outlast_operations(const Scenario& scenario);

}  // namespace falafel::store_scenario
