// Small programs on the simulator: clients that make one request at a time to a few words of a
// server or send it messages, and the server's processor. They compare an exhaustive exploration
// with a plain search.
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

enum class Verb : std::uint8_t {
  read,
  write,
  compare_and_swap,
  fetch_and_add,
  send,  // by clients
  // By the server.
  post_receive,
  await_message,
};

struct VerbCall {
  Verb verb{};
  std::uint64_t word = 0;   // post_receive: the queue pair, unless the server has a shared queue
  bool is_chained = false;  // posted together with the next one
  bool is_late = false;     // the party sleeps before
};

struct VerbsProgram {
  std::vector<std::vector<VerbCall>> clients;
  // Accesses of its processor (loads, stores and swaps), and what it does to receive messages.
  std::vector<VerbCall> server;
  std::vector<VerbCall> second_fiber{};  // of the server; none if it is empty
  bool fibers_take_turns = false;
  fabric::AtomicCapability atomic_capability = fabric::AtomicCapability::global;
  std::uint64_t offered_receives = 0;  // on each queue pair, before the clients begin
  bool shares_receives = false;        // the queue pairs of the server have a shared receive queue
  bool is_observed = false;            // someone looks at the server's memory after each change
  std::vector<sim::FaultKind> faults{};
  std::uint64_t max_faults = 0;
};

VerbsProgram draw_verbs_program(std::uint64_t seed);
// A program with messages. The server receives some of them, and waits for no other.
VerbsProgram draw_messages_program(std::uint64_t seed);
// The same with two fibers of the server, which take turns.
VerbsProgram draw_fibers_program(std::uint64_t seed);
// With faults, and with parties that sleep.
VerbsProgram draw_faulty_program(std::uint64_t seed);

// The words at the end, and all that the parties saw. With faults, also how the run ended, and how
// requests completed.
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
