// The programs of the benchmarks: one server host, which only provides memory, and client hosts
// with one fiber and one queue pair to the server each.
//
// Clients first sleep for longer than the server takes to listen, so that no refused connection
// attempt is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "fabric/fabric.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"

namespace falafel::simulator_benchmark {

// size of the memory of the server and of each client
inline constexpr std::uint32_t block_bytes = 64;
inline constexpr std::uint64_t clients = 8;  // default number of clients

// One side of a connection. Members are destroyed in reverse order, the queue pair first.
struct Endpoint {
  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::unique_ptr<fabric::CompletionQueue> completions;
  std::shared_ptr<fabric::MemoryBlock> memory;
  std::unique_ptr<fabric::MemoryRegion> region;
  std::unique_ptr<fabric::QueuePair> queue_pair;
};

struct Client {
  fabric::Host& host;
  std::uint64_t index;
  Endpoint endpoint;
  std::uint32_t server_key;  // the remote key of the server's memory
};

struct Program {
  std::uint64_t client_count = clients;
  std::function<void(Client&)> client;            // runs after connecting
  const sim::timing::Profile* profile = nullptr;  // of a timed run
};

struct ProgramResult {
  sim::RunResult run;
  std::uint64_t first_word = 0;  // final value of the first word in the server's memory
};

// Runs the program with default options and the random strategy. The run must complete.
ProgramResult run_program(const Program& program, std::uint64_t seed,
                          fabric::FiberStackPool& stacks);

// A request on all of the server's memory or, if atomic, on its first word.
fabric::WorkRequest make_request(const Client& client, fabric::Opcode opcode);

// Executes `count` sequential round trips: post a request of this kind, wait for the completion,
// poll it.
void repeat(Client& client, fabric::Opcode opcode, std::uint64_t count);

// The options of every run, with limits that suffice for the longest one.
sim::SimulationOptions run_options();

}  // namespace falafel::simulator_benchmark
