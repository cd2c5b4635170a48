// falafel-load-generator: runs the workloads of falafel bench on memcached or Redis. tools/compare
// uses it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "tools/benchmarks/load_generator/remote_client.h"
#include "tools/benchmarks/store/conductor.h"
#include "tools/benchmarks/store/parties.h"
#include "tools/benchmarks/store/result.h"
#include "tools/benchmarks/store/system_time.h"

namespace {

using namespace falafel;

struct GeneratorOptions {
  store_benchmark::BenchmarkOptions benchmark;
  std::string workload = "ycsb-c";
  std::string store = "memcached";
  std::string socket;
};

int generate(const GeneratorOptions& options) {
  const auto protocol = options.store == "redis" ? load_generator::make_redis_protocol()
                                                 : load_generator::make_memcached_protocol();
  const auto board = store_benchmark::make_shared_board(options.benchmark.clients);
  board->server.state = store_benchmark::PartyState::done;  // it is running and reports nothing
  store_benchmark::ChildProcesses clients;
  for (std::uint32_t client = 0; client < options.benchmark.clients; ++client) {
    clients.start(fmt::format("client {}", client), [&, client] {
      load_generator::run_remote_client(options.socket, *protocol, options.benchmark, client,
                                        *board);
    });
  }
  const store_benchmark::ConductedRun run =
      store_benchmark::Conductor(options.benchmark, *board, store_benchmark::system_time(), {}, {})
          .run();
  clients.wait_for_all();
  if (run.failure) {
    fmt::print(stderr, "falafel-load-generator: {}: {}\n", options.store, *run.failure);
    return 1;
  }
  store_benchmark::BenchmarkResult result = store_benchmark::sum_up(options.benchmark, *board, run);
  result.fabric = options.store;
  result.clock = "the processor's time stamp counter, around every batch";
  fmt::print("{}", store_benchmark::to_json(options.benchmark, result));
  return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  constexpr int status_wrong_usage = 2;
  GeneratorOptions options;
  store_benchmark::BenchmarkOptions& benchmark = options.benchmark;
  CLI::App app(
      "Runs a workload of falafel bench on memcached or Redis and prints the result as JSON");
  app.add_option("--store", options.store, "memcached or redis")
      ->check(CLI::IsMember({"memcached", "redis"}))
      ->required();
  app.add_option("--socket", options.socket, "the UNIX-domain socket on which it listens")
      ->required();
  app.add_option("--workload", options.workload, "a workload of falafel bench")
      ->capture_default_str();
  app.add_option("--clients", benchmark.clients, "number of clients")->capture_default_str();
  app.add_option("--in-flight", benchmark.in_flight, "concurrent operations per client")
      ->capture_default_str();
  app.add_option("--keys", benchmark.keys, "number of keys stored before the run")
      ->capture_default_str();
  app.add_option("--key-bytes", benchmark.key_bytes, "length of a key in bytes")
      ->capture_default_str();
  app.add_option("--value-bytes", benchmark.value_bytes, "length of a value in bytes")
      ->capture_default_str();
  app.add_option("--seconds", benchmark.seconds, "duration of the run in seconds")
      ->capture_default_str();
  app.add_option("--seed", benchmark.seed, "seed of the operations")->capture_default_str();
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : status_wrong_usage;
  }
  auto workload = store_benchmark::find_workload(options.workload);
  const auto problem =
      workload ? (benchmark.workload = *workload, store_benchmark::find_invalid_option(benchmark))
               : std::optional(workload.error());
  if (problem) {
    fmt::print(stderr, "falafel-load-generator: {}\n", *problem);
    return status_wrong_usage;
  }
  return generate(options);
}
