// Programs of threads on shared variables, small enough that all their executions can be gone
// through. They test a search without the simulator.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "explorer/exhaustive/search.h"

namespace falafel::explorer {

enum class ToyAction : std::uint8_t {
  load,        // into the thread's register
  store,       // the argument
  add,         // the argument, and the thread does not look at the variable
  fetch_add,   // the argument; the old value goes into the register
  swap_if,     // compare-and-swap of 0 with the argument; the old value goes into the register
  await,       // the thread can step only while the variable is not 0
  pick,        // store one of `argument` values, as a question says
  pick_where,  // a question says which of two variables is stored to
};

struct ToyOperation {
  ToyAction action{};
  std::uint32_t variable = 0;
  std::uint64_t argument = 0;
};

struct ToyProgram {
  std::vector<std::vector<ToyOperation>> threads;
  std::uint32_t variables = 1;
};

// 1 to 3 variables, 2 to 4 threads, and few enough operations for a plain search.
// Without questions, an execution depends on the order of steps alone.
ToyProgram draw_toy_program(std::uint64_t seed, bool with_questions = true);

// The final variables, registers, and how far each thread came.
using ToyState = std::vector<std::uint64_t>;

// One execution, as the search decides it. Null if the search ended it.
std::optional<ToyState> execute(const ToyProgram& program, Search& search);

struct ToyResult {
  std::set<ToyState> states;
  std::uint64_t executions = 0;
  std::uint64_t redundant = 0;
};
ToyResult explore(const ToyProgram& program, Search& search);

}  // namespace falafel::explorer
