// Measures the linearizability checker per operation, on histories of correct stores.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "checkers/linearizability.h"
#include "fabric/assert.h"
#include "fabric/random.h"
#include "tools/benchmarks/random_history/random_history.h"

namespace {

using namespace falafel;
using checkers::Model;

// Uses different histories, so that the branch predictor does not memorize one.
constexpr std::size_t histories_per_benchmark = 64;

std::vector<std::vector<checkers::Operation>> make_histories(
    const checkers::generators::HistoryOptions& options) {
  fabric::RandomGenerator random(1);
  std::vector<std::vector<checkers::Operation>> histories;
  for (std::size_t index = 0; index < histories_per_benchmark; ++index) {
    histories.push_back(checkers::generators::random_history(options, random));
  }
  return histories;
}

// One checker judges all histories; every history must be linearizable.
void judge(benchmark::State& state, const checkers::generators::HistoryOptions& options) {
  const auto histories = make_histories(options);
  checkers::LinearizabilityChecker checker(options.model);
  std::uint64_t judged = 0;
  for (auto _ : state) {
    const checkers::Judgement judgement = checker.check(histories[judged++ % histories.size()]);
    FALAFEL_ASSERT(judgement.verdict == checkers::Verdict::holds, "{}", judgement.explanation);
  }
  const auto operations = static_cast<double>(judged * options.operations);
  state.counters["time_per_operation"] =
      benchmark::Counter(operations, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void key_value_register(benchmark::State& state) {
  judge(state, {.model = Model::key_value_register,
                .operations = static_cast<std::size_t>(state.range(0)),
                .clients = static_cast<std::uint32_t>(state.range(1)),
                .keys = static_cast<std::uint64_t>(state.range(2)),
                .values = 0});
}

void lost_answers(benchmark::State& state) {
  judge(state, {.model = Model::key_value_register,
                .operations = static_cast<std::size_t>(state.range(0)),
                .clients = static_cast<std::uint32_t>(state.range(1)),
                .keys = static_cast<std::uint64_t>(state.range(2)),
                .values = 0,
                .lost_permille = 20});
}

void cas_register(benchmark::State& state) {
  judge(state, {.model = Model::cas_register,
                .operations = static_cast<std::size_t>(state.range(0)),
                .clients = static_cast<std::uint32_t>(state.range(1)),
                .keys = static_cast<std::uint64_t>(state.range(2)),
                .values = 5});
}

void append_log(benchmark::State& state) {
  judge(state, {.model = Model::append_log,
                .operations = static_cast<std::size_t>(state.range(0)),
                .clients = static_cast<std::uint32_t>(state.range(1)),
                .keys = static_cast<std::uint64_t>(state.range(2)),
                .values = 0});
}

void arguments(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"operations", "clients", "keys"})->Unit(benchmark::kMicrosecond);
  benchmark->Args({50, 1, 1})->Args({50, 10, 1})->Args({350, 1, 1})->Args({350, 4, 1});
  benchmark->Args({350, 10, 1})->Args({350, 10, 10})->Args({1'700, 50, 10});
}

BENCHMARK(key_value_register)->Apply(arguments);
BENCHMARK(lost_answers)->Apply(arguments);
BENCHMARK(cas_register)->Apply(arguments);
BENCHMARK(append_log)->Apply(arguments);

}  // namespace

BENCHMARK_MAIN();
