#include "tools/scenarios/swarm/program.h"

#include <utility>

#include "tools/scenarios/attempted_registers_program.h"
#include "tools/scenarios/swarm/run.h"

namespace falafel::swarm_scenario {

std::unique_ptr<check::WorldProgram> make_program(
    std::function<void(sim::SimulationOptions&)> adjust) {
  return scenarios::make_program_of_registers(
      "swarm",
      [](check::World& world, const check::Plan<AttemptedRegisters>& plan) {
        Run(world, plan).execute();
      },
      std::move(adjust));
}

}  // namespace falafel::swarm_scenario
