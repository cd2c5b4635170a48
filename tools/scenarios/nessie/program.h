// NessieCD, NessieSD and NessieHY (stores/nessie) as programs for the explorer: a few nodes with
// small tables, whose clients get, put and delete a few keys.
//
// A run must be linearizable (each attempt of an operation is a call of its own), it must end, and
// the memory at rest must satisfy the invariants of stores/nessie/invariants.h. With all
// safeguards, no ITE is swapped that has changed and changed back.
#pragma once

#include <functional>
#include <memory>

#include "explorer/check/program.h"
#include "fabric/sim/options/options.h"
#include "tools/scenarios/nessie/kind.h"

namespace falafel::nessie_scenario {

// `adjust` changes the drawn network; it may be empty.
std::unique_ptr<check::WorldProgram> make_program(
    const Kind& kind, std::function<void(sim::SimulationOptions&)> adjust = {});

}  // namespace falafel::nessie_scenario
