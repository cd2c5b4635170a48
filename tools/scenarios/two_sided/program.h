// Troost's store as programs for the explorer, one per transport: random small stores, their
// clients' operations and faults.
#pragma once

#include <functional>
#include <memory>

#include "explorer/check/program.h"
#include "fabric/fabric.h"
#include "fabric/sim/options/options.h"

namespace falafel::two_sided_scenario {

// Named "two-sided-rc", "-uc", "-ud" and "-tcp". All safeguards are on;
// explorer::Program::without switches one off. `adjust` changes the drawn network; it may be empty.
std::unique_ptr<check::WorldProgram> make_program(
    fabric::Transport transport, std::function<void(sim::SimulationOptions&)> adjust = {});

}  // namespace falafel::two_sided_scenario
