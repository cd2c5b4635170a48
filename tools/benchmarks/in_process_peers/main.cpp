// falafel-in-process-peers: runs the workloads of falafel bench on LMDB, or on a map of Boost in
// shared memory. tools/compare --in-process uses it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include "tools/benchmarks/in_process_peers/peer_client.h"
#include "tools/benchmarks/store/conductor.h"
#include "tools/benchmarks/store/killed_client.h"
#include "tools/benchmarks/store/parties.h"
#include "tools/benchmarks/store/result.h"
#include "tools/benchmarks/store/system_time.h"

namespace {

using namespace falafel;

struct PeerOptions {
  store_benchmark::BenchmarkOptions benchmark;
  std::string workload = "ycsb-c";
  std::string store;
  std::filesystem::path directory;
  bool kills_client = false;
};

// Includes what the stores add to each key.
std::uint64_t capacity_bytes(const store_benchmark::BenchmarkOptions& options) {
  constexpr std::uint64_t overhead_bytes = 400;
  constexpr std::uint64_t least_bytes = std::uint64_t{64} << 20U;
  return least_bytes +
         2 * options.most_keys() * (options.key_bytes + options.value_bytes + overhead_bytes);
}

int print_failure(const PeerOptions& options, std::string_view failure) {
  fmt::print(stderr, "falafel-in-process-peers: {}: {}\n", options.store, failure);
  return 1;
}

int kill_client(const PeerOptions& options, store_benchmark::Board& board,
                store_benchmark::ChildProcesses& clients) {
  const auto killed = store_benchmark::kill_first_client(options.benchmark, board, clients);
  if (!killed) return print_failure(options, killed.error());
  fmt::print("{}", store_benchmark::to_json(*killed));
  return 0;
}

int run(const PeerOptions& options, store_benchmark::Board& board,
        store_benchmark::ChildProcesses& clients) {
  const store_benchmark::ConductedRun run =
      store_benchmark::Conductor(options.benchmark, board, store_benchmark::system_time(), {}, {})
          .run();
  clients.wait_for_all();
  if (run.failure) return print_failure(options, *run.failure);
  store_benchmark::BenchmarkResult result = store_benchmark::sum_up(options.benchmark, board, run);
  result.fabric = options.store;
  result.clock = "the processor's time stamp counter, around every operation";
  fmt::print("{}", store_benchmark::to_json(options.benchmark, result));
  return 0;
}

int measure(const PeerOptions& options) {
  const in_process_peers::PeerKind kind =
      options.store == "lmdb" ? in_process_peers::lmdb_peer() : in_process_peers::boost_peer();
  const in_process_peers::PeerPlace place{.directory = options.directory,
                                          .capacity_bytes = capacity_bytes(options.benchmark),
                                          .keys = options.benchmark.most_keys()};
  const auto board = store_benchmark::make_shared_board(options.benchmark.clients);
  board->server.state = store_benchmark::PartyState::done;  // there is none
  kind.create(place);
  store_benchmark::ChildProcesses clients;
  for (std::uint32_t client = 0; client < options.benchmark.clients; ++client) {
    clients.start(store_benchmark::client_name(client), [&, client] {
      in_process_peers::run_peer_client(kind, place, options.benchmark, client, *board);
    });
  }
  return options.kills_client ? kill_client(options, *board, clients)
                              : run(options, *board, clients);
}

}  // namespace

int main(int argument_count, char** arguments) {
  constexpr int status_wrong_usage = 2;
  PeerOptions options;
  store_benchmark::BenchmarkOptions& benchmark = options.benchmark;
  CLI::App app(
      "Runs a workload of falafel bench on a store in the clients' own processes and prints the "
      "result as JSON");
  app.add_option("--store", options.store, "lmdb or boost")
      ->check(CLI::IsMember({"lmdb", "boost"}))
      ->required();
  app.add_option("--directory", options.directory, "an empty directory on a tmpfs")
      ->check(CLI::ExistingDirectory)
      ->required();
  app.add_option("--workload", options.workload, "a workload of falafel bench")
      ->capture_default_str();
  app.add_option("--clients", benchmark.clients, "number of clients")->capture_default_str();
  app.add_option("--keys", benchmark.keys, "number of keys stored before the run")
      ->capture_default_str();
  app.add_option("--key-bytes", benchmark.key_bytes, "length of a key in bytes")
      ->capture_default_str();
  app.add_option("--value-bytes", benchmark.value_bytes, "length of a value in bytes")
      ->capture_default_str();
  app.add_option("--seconds", benchmark.seconds, "duration of the run in seconds")
      ->capture_default_str();
  app.add_option("--seed", benchmark.seed, "seed of the operations")->capture_default_str();
  app.add_flag("--kill-client", options.kills_client,
               "kill the first client half-way, and print how the others go on");
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : status_wrong_usage;
  }
  auto workload = store_benchmark::find_workload(options.workload);
  const auto problem =
      workload ? (benchmark.workload = *workload, store_benchmark::find_invalid_option(benchmark))
               : std::optional(workload.error());
  if (!problem && options.kills_client && benchmark.clients < 2) {
    fmt::print(stderr, "falafel-in-process-peers: --kill-client needs --clients 2 or more\n");
    return status_wrong_usage;
  }
  if (problem) {
    fmt::print(stderr, "falafel-in-process-peers: {}\n", *problem);
    return status_wrong_usage;
  }
  try {
    return measure(options);
  } catch (const std::exception& error) {
    return print_failure(options, error.what());
  }
}
