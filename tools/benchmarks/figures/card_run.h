// A timed run of one server and its clients, which are distributed among several machines.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>

#include "fabric/assert.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "fabric/sim/timing/profile.h"

namespace falafel::figures {

struct CardRun {
  std::uint32_t clients = 1;
  std::uint32_t machines = 1;
  std::uint64_t seed = 1;
  std::function<void(fabric::Host&)> serve;  // on "server"
  std::function<void(fabric::Host&, std::uint32_t client)> use;
};

// The run must complete.
inline sim::RunResult run_on_card(const sim::timing::Profile& profile, const CardRun& run) {
  sim::SimulationOptions options;
  options.granularity = sim::Granularity::packet;
  options.step_limit = 1'000'000'000'000;
  sim::RandomStrategy strategy(run.seed);
  fabric::FiberStackPool stacks;
  sim::Simulation simulation(options, strategy, stacks, profile);
  simulation.add_host({.name = "server", .role = sim::Role::server}, run.serve);
  for (std::uint32_t client = 0; client < run.clients; ++client) {
    simulation.add_host({.name = fmt::format("client {}", client),
                         .machine = fmt::format("machine {}", client % run.machines)},
                        [&run, client](fabric::Host& host) { run.use(host, client); });
  }
  sim::RunResult result = simulation.run();
  FALAFEL_ASSERT(result.outcome == sim::Outcome::completed, "{}", result.explanation);
  return result;
}

}  // namespace falafel::figures
