// Replicated registers (stores/replicated) as a program for the explorer: three servers, and 2 to 4
// clients that get, set and delete a few keys, while servers lose their memory, clients die, and
// connections break.
//
// Operations on each key must be linearizable, with a GET of every key at the end; they must end;
// and while a majority of the servers is intact and nothing else is wrong, they must succeed.
#pragma once

#include <functional>
#include <memory>

#include "explorer/check/program.h"
#include "fabric/sim/options/options.h"

namespace falafel::replicated_scenario {

// Named "replicated". `adjust` changes the drawn network; it may be empty.
std::unique_ptr<check::WorldProgram> make_program(
    std::function<void(sim::SimulationOptions&)> adjust = {});

}  // namespace falafel::replicated_scenario
