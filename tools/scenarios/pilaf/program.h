// Pilaf and Pilaf-VO as programs for the explorer: random small stores, their clients' operations
// and faults.
#pragma once

#include <functional>
#include <memory>

#include "explorer/check/program.h"
#include "fabric/sim/options/options.h"
#include "stores/pilaf/options.h"

namespace falafel::pilaf_scenario {

// Named "pilaf" and "pilaf-vo". All safeguards are on; explorer::Program::without switches one off.
// `adjust` changes the drawn network; it may be empty.
std::unique_ptr<check::WorldProgram> make_program(
    pilaf::GetPath gets, std::function<void(sim::SimulationOptions&)> adjust = {});

}  // namespace falafel::pilaf_scenario
