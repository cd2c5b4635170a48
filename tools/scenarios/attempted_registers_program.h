// The program of the scenarios of replicated stores: three nodes, and 2 to 4 clients that get, set
// and delete a few keys, while nodes lose their memory or stop, clients die, and connections break.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "explorer/check/program.h"
#include "explorer/check/workload.h"
#include "explorer/check/world.h"
#include "fabric/sim/options/options.h"
#include "tools/scenarios/attempted_registers.h"

namespace falafel::scenarios {

inline constexpr std::uint64_t key_count = 2;

std::string key_of(std::uint64_t number);

// `run` builds the nodes and the clients of one run, and executes it. `adjust` changes the drawn
// network; it may be empty.
std::unique_ptr<check::WorldProgram> make_program_of_registers(
    std::string name,
    std::function<void(check::World&, const check::Plan<AttemptedRegisters>&)> run,
    std::function<void(sim::SimulationOptions&)> adjust);

}  // namespace falafel::scenarios
