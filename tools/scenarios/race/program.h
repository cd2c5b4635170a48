// RACE hashing as a program for the explorer: random small tables, their clients' operations and
// faults.
#pragma once

#include <functional>
#include <memory>

#include "explorer/check/program.h"
#include "fabric/sim/options/options.h"

namespace falafel::race_scenario {

// Named "race". All safeguards are on; explorer::Program::without switches one off. `adjust`
// changes the drawn network; it may be empty.
std::unique_ptr<check::WorldProgram> make_program(
    std::function<void(sim::SimulationOptions&)> adjust = {});

}  // namespace falafel::race_scenario
