// Explores a small program on the simulator.
#pragma once

#include <set>

#include "explorer/exhaustive/exhaustive.h"
#include "fabric/fiber_stack.h"
#include "tools/command_line/acceptance/rules/small_program.h"

namespace falafel::litmus {

struct ExploredProgram {
  std::set<SmallOutcome> outcomes;
  explorer::ExhaustiveResult counts;
};
ExploredProgram explore(const SmallProgram& program, fabric::FiberStackPool& stacks);

}  // namespace falafel::litmus
