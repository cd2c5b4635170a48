// Small programs on the simulator: clients that make one request at a time to a few words of a
// server, and the server's processor. They compare an exhaustive exploration with a plain search.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "explorer/exhaustive/exhaustive.h"
#include "explorer/exhaustive/search.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"

namespace falafel::explorer {

enum class Verb : std::uint8_t { read, write, compare_and_swap, fetch_and_add };

struct VerbCall {
  Verb verb{};
  std::uint64_t word = 0;
  bool is_chained = false;  // posted together with the next one
};

struct VerbsProgram {
  std::vector<std::vector<VerbCall>> clients;
  std::vector<VerbCall> server;  // accesses of its processor: loads, stores and swaps
  fabric::AtomicCapability atomic_capability = fabric::AtomicCapability::global;
};

VerbsProgram draw_verbs_program(std::uint64_t seed);

// The words at the end, and all that the parties saw.
using VerbsState = std::vector<std::uint64_t>;

struct VerbsExecution {
  sim::RunResult result;
  VerbsState state;
};
VerbsExecution execute(const VerbsProgram& program, sim::Strategy& strategy,
                       fabric::FiberStackPool& stacks);

struct VerbsResult {
  std::set<VerbsState> states;
  ExhaustiveResult counts;
};
VerbsResult explore(const VerbsProgram& program, ExhaustiveOptions options = {});

// The same with a search of the caller's. `see` gets each execution that is not redundant, and
// returns false to stop.
void explore(const VerbsProgram& program, Search& search,
             const std::function<bool(const VerbsExecution&)>& see);

}  // namespace falafel::explorer
