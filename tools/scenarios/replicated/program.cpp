#include "tools/scenarios/replicated/program.h"

#include <utility>

#include "tools/scenarios/attempted_registers_program.h"
#include "tools/scenarios/replicated/run.h"

namespace falafel::replicated_scenario {

std::unique_ptr<check::WorldProgram> make_program(
    std::function<void(sim::SimulationOptions&)> adjust) {
  return scenarios::make_program_of_registers(
      "replicated",
      [](check::World& world, const check::Plan<AttemptedRegisters>& plan) {
        Run(world, plan).execute();
      },
      std::move(adjust));
}

}  // namespace falafel::replicated_scenario
