// Small programs that post chains of all kinds of requests on one queue pair, while the server's
// processor looks, receives messages, or breaks the connection. They compare explorations that tell
// the lanes of a queue pair apart with others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explorer/exhaustive/search.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/options/options.h"
#include "tests/litmus/party.h"

namespace falafel::explorer {

enum class QueueVerb : std::uint8_t {
  read,
  write,
  compare_and_swap,
  fetch_and_add,
  send,
  write_with_immediate,
};

struct QueueCall {
  QueueVerb verb{};
  std::uint64_t word = 0;
  std::uint64_t count = 1;  // of words
  bool is_fenced = false;
  bool is_signalled = true;
  bool is_inlined = false;
  bool ends_chain = false;  // the client then waits for all completions
};

enum class ServerAct : std::uint8_t { load, store, post_receive, break_connection, revoke };

struct QueueProgram {
  sim::SimulationOptions options;
  litmus::Stage stage;
  std::uint64_t receives = 0;  // posted before the programs start
  std::vector<std::vector<QueueCall>> clients;
  std::vector<ServerAct> server;

  std::string describe() const;
};

QueueProgram draw_queue_program(std::uint64_t seed);

// How the run ended, all words of all parties, the statuses and the orders of completions. Empty if
// the search ended the run.
using QueueState = std::vector<std::uint64_t>;

// Calls `see` with the state of each execution that is not redundant, until it returns false.
void explore(const QueueProgram& program, Search& search, bool tells_lanes,
             const std::function<bool(const QueueState&)>& see);

}  // namespace falafel::explorer
