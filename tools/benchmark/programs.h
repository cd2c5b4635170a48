// The programs that the benchmarks run: one server host, which keeps words and takes no part in
// what happens to them, and client hosts, each with one fiber and one queue pair to the server.
//
// Clients first sleep for longer than the server takes to listen, so that no refused attempt to
// connect is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "fabric/fabric.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"

namespace falafel::benchmark_programs {

inline constexpr std::uint32_t block_bytes = 64;  // of memory, at the server and at each client
inline constexpr std::uint64_t clients = 8;       // of a program, unless it says otherwise

// One side of a connection. Members are destroyed from the last: the queue pair goes first.
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
  std::function<void(Client&)> client;  // what a client does once it is connected
};

struct ProgramResult {
  sim::RunResult run;
  std::uint64_t first_word = 0;  // of the server's memory, in the end
};

// An adversarial run: default options, random strategy. It must complete.
ProgramResult run_program(const Program& program, std::uint64_t seed,
                          fabric::FiberStackPool& stacks);

// A request on all of the server's memory or, if atomic, on its first word.
fabric::WorkRequest make_request(const Client& client, fabric::Opcode opcode);

// So many round trips with requests of this kind, one after the other: post, wait for the completion, poll it.
void repeat(Client& client, fabric::Opcode opcode, std::uint64_t count);

// The options of every run. They leave room for the longest one.
sim::SimulationOptions run_options();

}  // namespace falafel::benchmark_programs
