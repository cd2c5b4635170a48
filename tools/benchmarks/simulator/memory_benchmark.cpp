// Measures the simulator's memory per host and per round trip. Only this program uses the meter, so
// that it slows down no other.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "tools/benchmarks/simulator/memory_meter.h"
#include "tools/benchmarks/simulator/programs.h"

namespace {

using namespace falafel;
using namespace falafel::simulator_benchmark;

struct Footprint {
  std::uint64_t heap_bytes = 0;
  std::uint64_t stack_bytes = 0;
};

// All hosts wait; the last one to wait measures. The pool is new, so that stack pages touched by
// earlier runs do not count.
class FootprintProgram {
 public:
  explicit FootprintProgram(std::uint64_t hosts) : hosts_(hosts) {}

  Footprint measure_connected() {
    fabric::FiberStackPool stacks;
    run_program({hosts_, [this](Client& client) { wait(client.host); }}, 1, stacks);
    return footprint_;
  }

  Footprint measure_unconnected() {
    const sim::SimulationOptions options = run_options();
    fabric::FiberStackPool stacks;
    const auto strategy = sim::make_strategy(options, 1);
    sim::Simulation simulation(options, *strategy, stacks);
    for (std::uint64_t index = 0; index < hosts_; ++index) {
      simulation.add_host({.name = "host " + std::to_string(index)},
                          [this](fabric::Host& host) { wait(host); });
    }
    simulation.run();
    return footprint_;
  }

 private:
  void wait(fabric::Host& host) {
    constexpr std::uint64_t everybody_waits_ns = 1'000'000'000;
    if (++waiting_ == hosts_) footprint_.heap_bytes = allocated_bytes();
    host.sleep_until(everybody_waits_ns);
    footprint_.stack_bytes += touched_stack_bytes();
  }

  std::uint64_t hosts_;
  std::uint64_t waiting_ = 0;
  Footprint footprint_;
};

// The additional memory per host of a run with 256 hosts, compared with a run with one.
template <typename Measure>
void memory_per_host(benchmark::State& state, Measure measure) {
  constexpr std::uint64_t additional_hosts = 256;
  Footprint one;
  Footprint many;
  for (auto _ : state) {
    one = measure(FootprintProgram(1));
    many = measure(FootprintProgram(1 + additional_hosts));
  }
  const auto per_host = [](std::uint64_t larger_bytes, std::uint64_t smaller_bytes) {
    return static_cast<double>(larger_bytes - smaller_bytes) / additional_hosts;
  };
  state.counters["heap_bytes_per_host"] = per_host(many.heap_bytes, one.heap_bytes);
  state.counters["stack_bytes_per_host"] = per_host(many.stack_bytes, one.stack_bytes);
}

void memory_per_host_connected(benchmark::State& state) {
  memory_per_host(state, [](FootprintProgram program) { return program.measure_connected(); });
}

void memory_per_host_unconnected(benchmark::State& state) {
  memory_per_host(state, [](FootprintProgram program) { return program.measure_unconnected(); });
}

// Counts calls of operator new by all clients during the middle half of the first client's round
// trips.
void allocations_per_verb(benchmark::State& state, fabric::Opcode opcode) {
  constexpr std::uint64_t quarter = 1'000;
  std::uint64_t allocations = 0;
  const Program program{clients, [&](Client& client) {
                          repeat(client, opcode, quarter);
                          const std::uint64_t before = allocation_count();
                          repeat(client, opcode, 2 * quarter);
                          if (client.index == 0) allocations += allocation_count() - before;
                          repeat(client, opcode, quarter);
                        }};
  fabric::FiberStackPool stacks;
  std::uint64_t seed = 0;
  for (auto _ : state) run_program(program, ++seed, stacks);
  state.counters["allocations_per_verb"] =
      static_cast<double>(allocations) / static_cast<double>(seed * clients * 2 * quarter);
}

BENCHMARK(memory_per_host_connected)->Iterations(1);
BENCHMARK(memory_per_host_unconnected)->Iterations(1);
BENCHMARK_CAPTURE(allocations_per_verb, read, fabric::Opcode::read)->Iterations(1);
BENCHMARK_CAPTURE(allocations_per_verb, write, fabric::Opcode::write)->Iterations(1);
BENCHMARK_CAPTURE(allocations_per_verb, fetch_and_add, fabric::Opcode::fetch_and_add)
    ->Iterations(1);

}  // namespace

int main(int argument_count, char** arguments) {
  const fabric::StackOverflowReport stack_overflow_report;
  benchmark::Initialize(&argument_count, arguments);
  if (benchmark::ReportUnrecognizedArguments(argument_count, arguments)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
