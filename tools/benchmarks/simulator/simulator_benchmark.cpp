// Measures the speed of the simulator: round trips, complete runs, setup and teardown, and fiber
// switches alone. programs.h defines the programs; each run has its own seed. Rates are per second
// of processor time, because the simulator is single-threaded.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "fabric/assert.h"
#include "fabric/fiber_context.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "tools/benchmarks/simulator/programs.h"

namespace {

using namespace falafel;
using namespace falafel::simulator_benchmark;
using benchmark::Counter;

// Clients execute sequential READs of 64 bytes.
void round_trips(benchmark::State& state) {
  constexpr std::uint64_t round_trips_per_client = 100'000;
  const Program program{clients, [](Client& client) {
                          repeat(client, fabric::Opcode::read, round_trips_per_client);
                        }};
  fabric::FiberStackPool stacks;
  std::uint64_t seed = 0;
  std::uint64_t steps = 0;
  for (auto _ : state) steps += run_program(program, ++seed, stacks).run.steps;
  const auto done = static_cast<double>(seed * clients * round_trips_per_client);
  state.counters["round_trips_per_second"] = Counter(done, Counter::kIsRate);
  state.counters["steps_per_round_trip"] = static_cast<double>(steps) / done;
}

// The same in timed runs, with a given number of clients, each on its own machine.
void timed_round_trips(benchmark::State& state) {
  constexpr std::uint64_t round_trips_of_all = 400'000;
  const auto timed_clients = static_cast<std::uint64_t>(state.range(0));
  const std::uint64_t round_trips_per_client = round_trips_of_all / timed_clients;
  const sim::timing::Profile profile = sim::timing::find_profile("connectx3-qdr").value();
  const Program program{
      timed_clients,
      [&](Client& client) { repeat(client, fabric::Opcode::read, round_trips_per_client); },
      &profile};
  fabric::FiberStackPool stacks;
  std::uint64_t seed = 0;
  std::uint64_t steps = 0;
  for (auto _ : state) steps += run_program(program, ++seed, stacks).run.steps;
  const auto done = static_cast<double>(seed * timed_clients * round_trips_per_client);
  state.counters["round_trips_per_second"] = Counter(done, Counter::kIsRate);
  state.counters["steps_per_round_trip"] = static_cast<double>(steps) / done;
}

// Complete runs, from adding hosts to teardown, in which all clients increment the same word.
void schedules(benchmark::State& state) {
  constexpr std::uint64_t increments_per_client = 100;
  const Program program{clients, [](Client& client) {
                          repeat(client, fabric::Opcode::fetch_and_add, increments_per_client);
                        }};
  fabric::FiberStackPool stacks;
  std::uint64_t seed = 0;
  std::uint64_t steps = 0;
  for (auto _ : state) {
    const ProgramResult result = run_program(program, ++seed, stacks);
    FALAFEL_ASSERT(result.first_word == clients * increments_per_client, "seed {}: the word is {}",
                   seed, result.first_word);
    steps += result.run.steps;
  }
  const auto done = static_cast<double>(seed);
  state.counters["schedules_per_second"] = Counter(done, Counter::kIsRate);
  state.counters["steps_per_schedule"] = static_cast<double>(steps) / done;
}

// A server and two clients that connect and end.
void setup_and_teardown_connected(benchmark::State& state) {
  const Program program{2, [](Client& /*client*/) {}};
  fabric::FiberStackPool stacks;
  std::uint64_t seed = 0;
  for (auto _ : state) run_program(program, ++seed, stacks);
}

// Three hosts whose only fiber returns immediately.
void setup_and_teardown_unconnected(benchmark::State& state) {
  const sim::SimulationOptions options = run_options();
  fabric::FiberStackPool stacks;
  std::uint64_t seed = 0;
  for (auto _ : state) {
    const auto strategy = sim::make_strategy(options, ++seed);
    sim::Simulation simulation(options, *strategy, stacks);
    for (const char* name : {"server", "client 0", "client 1"}) {
      simulation.add_host({.name = name}, [](fabric::Host& /*host*/) {});
    }
    benchmark::DoNotOptimize(simulation.run());
  }
}

// The reference for the other benchmarks: a switch to a fiber and back, without a scheduler.
void fiber_switch(benchmark::State& state) {
  struct Switching {
    fabric::FiberContext context;
    bool ends = false;
    explicit Switching(fabric::FiberStackPool& pool) : context(pool, "switch", run, this) {}
    static void run(void* argument) {
      auto* self = static_cast<Switching*>(argument);
      while (!self->ends) self->context.suspend();
    }
  };
  fabric::FiberStackPool stacks;
  Switching fiber(stacks);
  for (auto _ : state) fiber.context.resume();
  fiber.ends = true;
  fiber.context.resume();
}

BENCHMARK(round_trips)->Unit(benchmark::kMillisecond);
BENCHMARK(timed_round_trips)->Arg(1)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(schedules)->Unit(benchmark::kMicrosecond);
BENCHMARK(setup_and_teardown_connected)->Unit(benchmark::kMicrosecond);
BENCHMARK(setup_and_teardown_unconnected)->Unit(benchmark::kMicrosecond);
BENCHMARK(fiber_switch);

}  // namespace

int main(int argument_count, char** arguments) {
  const fabric::StackOverflowReport stack_overflow_report;
  benchmark::Initialize(&argument_count, arguments);
  if (benchmark::ReportUnrecognizedArguments(argument_count, arguments)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
