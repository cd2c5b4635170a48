// Several servers of the store as a program for the explorer: clients spread a few keys over three
// servers by rendezvous hashing, and servers crash.
//
// Operations on each key must be linearizable, with reads of all keys at the end, and a server that
// crashes must cost its own keys only. A crashed server comes back empty; clients do not use it
// again, because the specification does not know that keys may be lost. The safeguard
// "same-servers" stands for what the operator must see to: all clients have the same list.
#pragma once

#include <functional>
#include <memory>

#include "explorer/check/program.h"
#include "fabric/sim/options/options.h"

namespace falafel::cluster_scenario {

// Named "cluster". `adjust` changes the drawn network; it may be empty.
std::unique_ptr<check::WorldProgram> make_program(
    std::function<void(sim::SimulationOptions&)> adjust = {});

// Named "changing-cluster": servers join and leave while clients use them (engine/placement). No
// key may be lost, and operations on each key must be linearizable. The promise rests on
// safeguards.
std::unique_ptr<check::WorldProgram> make_changing_program(
    std::function<void(sim::SimulationOptions&)> adjust = {});

}  // namespace falafel::cluster_scenario
