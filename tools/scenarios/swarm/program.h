// SWARM-KV (stores/swarm) as a program for the explorer: three memory nodes, perhaps a node for the
// index, and 2 to 4 clients that get, set and delete a few keys, while nodes lose their memory,
// clients die, connections break, and transfers tear.
//
// Operations on each key must be linearizable, with a GET of every key at the end; they must end;
// while a majority of the memory nodes and the index are intact and nothing else is wrong, they
// must succeed; and at rest, the memory of nodes that are intact must be in order.
#pragma once

#include <functional>
#include <memory>

#include "explorer/check/program.h"
#include "fabric/sim/options/options.h"

namespace falafel::swarm_scenario {

// Named "swarm". `adjust` changes the drawn network; it may be empty.
std::unique_ptr<check::WorldProgram> make_program(
    std::function<void(sim::SimulationOptions&)> adjust = {});

}  // namespace falafel::swarm_scenario
