// falafel bench: measures the store's operations under standard workloads.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explorer/commands/arguments.h"
#include "falafel/store.h"
#include "tools/benchmarks/store/floor.h"
#include "tools/benchmarks/store/options.h"
#include "tools/benchmarks/store/real_time_benchmark.h"
#include "tools/benchmarks/store/sim_benchmark.h"
#include "tools/command_line/commands.h"
#include "tools/command_line/reference_bit_options.h"
#include "tools/command_line/store_options.h"
#include "tools/server/exit_status.h"

namespace falafel::command_line {
namespace {

constexpr int status_failed = 1;
constexpr int status_wrong_usage = 2;
constexpr std::uint64_t most_condition_ns = 1'000'000'000;

struct BenchOptions {
  store_benchmark::BenchmarkOptions benchmark;
  std::string fabric = "shm";
  store_benchmark::RealTimeOptions real_time;
  std::string workload = "ycsb-c";
  std::string distribution;
  std::optional<std::uint32_t> reads_percent;
  std::uint32_t deletes_percent = 0;
  std::optional<std::uint64_t> keys;
  std::vector<std::uint32_t> readahead;
  std::string card;  // empty: none
  store_benchmark::Cluster cluster;
  sim::timing::Conditions conditions;       // of a run with a card
  std::optional<std::uint32_t> processors;  // that the clients of a machine share
  bool threads = false;
  bool floor = false;
  bool kills_client = false;
  bool json = false;
};

std::string_view to_string(store_benchmark::Phase phase) {
  switch (phase) {
    case store_benchmark::Phase::starting: return "connecting";
    case store_benchmark::Phase::loading: return "loading";
    case store_benchmark::Phase::running: return "running";
    case store_benchmark::Phase::finishing:
    case store_benchmark::Phase::over: return "finishing";
  }
  return "?";
}

void print_progress(const store_benchmark::BenchmarkOptions& options,
                    const store_benchmark::Progress& progress) {
  if (isatty(STDERR_FILENO) == 0) return;
  const double left =
      progress.phase == store_benchmark::Phase::running ? options.seconds - progress.seconds : 0;
  fmt::print(stderr, "\r{}: {} operations, {:.0f} per second, {:.1f} s left     ",
             to_string(progress.phase), progress.operations, progress.rate_per_second,
             std::max(left, 0.0));
}

// Fills in defaults; returns an error message if an option is invalid.
std::optional<std::string> complete(BenchOptions& options) {
  auto workload = store_benchmark::find_workload(options.workload);
  if (!workload) return fmt::format("--workload: {}", workload.error());
  if (!options.distribution.empty()) {
    workload->distribution = *store_benchmark::find_distribution(options.distribution);
  }
  if (options.reads_percent) {
    workload->percent = {*options.reads_percent, 100 - *options.reads_percent};
  }
  if (auto problem =
          store_benchmark::replace_updates_by_removals(*workload, options.deletes_percent)) {
    return problem;
  }
  options.benchmark.workload = *workload;
  if (!options.readahead.empty()) {
    options.benchmark.readahead = {.chunk_entries = options.readahead[0],
                                   .container_bytes = options.readahead[1],
                                   .containers = options.readahead[2],
                                   .validation = options.fabric != "shm"};
  }
  if (!options.card.empty()) {
    if (options.fabric != "sim") return "--card: a card is simulated; add --fabric sim";
    auto profile = sim::timing::find_or_read_profile(options.card);
    if (!profile) return fmt::format("--card: {}", profile.error());
    options.cluster.profile = std::move(*profile);
    if (options.conditions.slice_ns <= options.conditions.switch_ns) {
      return fmt::format("--slice-ns is {} but must be more than --switch-ns ({})",
                         options.conditions.slice_ns, options.conditions.switch_ns);
    }
    options.conditions.shares_processors = options.processors.has_value();
    options.cluster.profile->processors =
        options.processors.value_or(options.cluster.profile->processors);
    options.cluster.profile->conditions = options.conditions;
  }
  options.real_time.fabric.fabric = options.fabric;
  const bool has_processes = options.fabric != "sim" && !options.threads && !options.floor;
  if (options.kills_client && (!has_processes || options.benchmark.clients < 2)) {
    return "--kill-client kills the process of one of several clients; use --clients 2, and not "
           "--fabric sim, --threads or --floor";
  }
  if (options.threads) options.real_time.parties = store_benchmark::Parties::threads;
  options.benchmark.keys = options.keys.value_or(options.fabric == "sim" ? 100'000 : 1'000'000);
  return store_benchmark::find_invalid_option(options.benchmark);
}

tl::expected<store_benchmark::BenchmarkResult, std::string> measure(const BenchOptions& options) {
  if (options.floor)
    return store_benchmark::measure_floor(options.benchmark, options.real_time.fabric.huge_pages);
  const auto on_progress = [&](const store_benchmark::Progress& progress) {
    print_progress(options.benchmark, progress);
  };
  if (options.fabric == "sim")
    return store_benchmark::run_in_simulator(options.benchmark, on_progress, options.cluster);
  return store_benchmark::run_in_real_time(options.benchmark, options.real_time, on_progress);
}

// Returns an exit status if the server that --name names cannot be reached, after explaining it as
// get does.
std::optional<int> find_no_server(const BenchOptions& options) {
  const store_benchmark::RealTimeOptions& real_time = options.real_time;
  if (real_time.server.empty() || options.fabric == "sim" || options.floor) return std::nullopt;
  const ServerAddress address{.name = real_time.server, .fabric = real_time.fabric};
  const auto store = Store::open({.server = address.server_name(), .fabric = real_time.fabric});
  if (store) return std::nullopt;
  fmt::print(stderr, "falafel bench: {}\n", store.error().detail);
  return server_program::status_of(store.error().problem);
}

std::string to_text(const store_benchmark::KilledClient& killed) {
  const auto per_second = [](std::uint64_t operations, double seconds) {
    return static_cast<double>(operations) / seconds;
  };
  return fmt::format(
      "One client was killed. The others executed {:.0f} operations per second before, and {:.0f} "
      "afterwards.\n",
      per_second(killed.operations_before, killed.seconds_before),
      per_second(killed.operations_after, killed.seconds_after));
}

int kill_client(const BenchOptions& options) {
  const auto killed =
      store_benchmark::kill_client_in_real_time(options.benchmark, options.real_time);
  if (!killed) {
    fmt::print(stderr, "falafel bench: {}\n", killed.error());
    return status_failed;
  }
  fmt::print("{}", options.json ? to_json(*killed) : to_text(*killed));
  return 0;
}

int bench(BenchOptions& options) {
  if (const auto problem = complete(options)) {
    fmt::print(stderr, "falafel bench: {}\n", *problem);
    return status_wrong_usage;
  }
  if (const auto status = find_no_server(options)) return *status;
  if (options.kills_client) return kill_client(options);
  const auto result = measure(options);
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\n");
  if (!result) {
    fmt::print(stderr, "falafel bench: {}\n", result.error());
    return status_failed;
  }
  fmt::print("{}", options.json ? to_json(options.benchmark, *result)
                                : to_text(options.benchmark, *result));
  return 0;
}

// Adds options for conditions that the card alone does not decide (docs/performance.md).
void add_condition_options(CLI::App& command, CLI::Option& card, BenchOptions& options) {
  sim::timing::Conditions& conditions = options.conditions;
  command
      .add_option("--jitter-ns", conditions.jitter_ns,
                  "how late completions are on average, at random")
      ->check(CLI::Range(std::uint64_t{0}, most_condition_ns))
      ->needs(&card)
      ->capture_default_str();
  CLI::Option* const processors =
      command
          .add_option("--processors", options.processors,
                      "number of processors that the clients of a machine share (default: each "
                      "client has its own)")
          ->check(CLI::Range(1, 1'024))
          ->needs(&card);
  command
      .add_option("--background-threads", conditions.background_threads,
                  "threads of other programs on each machine, which never wait")
      ->check(CLI::Range(0, 10'000))
      ->needs(processors)
      ->capture_default_str();
  command
      .add_flag("--block", conditions.threads_block,
                "clients give up the processor while they wait (default: they poll)")
      ->needs(processors);
  command.add_option("--slice-ns", conditions.slice_ns, "time slice of a thread that polls")
      ->check(CLI::Range(std::uint64_t{0}, most_condition_ns))
      ->needs(processors)
      ->capture_default_str();
  command.add_option("--switch-ns", conditions.switch_ns, "switch from one thread to another")
      ->check(CLI::Range(std::uint64_t{0}, most_condition_ns))
      ->needs(processors)
      ->capture_default_str();
  command.add_option("--wake-ns", conditions.wake_ns, "waking a thread that blocks")
      ->check(CLI::Range(std::uint64_t{0}, most_condition_ns))
      ->needs(processors)
      ->capture_default_str();
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<BenchOptions>();
  store_benchmark::BenchmarkOptions& benchmark = options->benchmark;
  FabricOptions& fabric = options->real_time.fabric;
  CLI::App* const command = app.add_subcommand("bench", "measure the store under a workload");
  command
      ->add_option("--fabric", options->fabric,
                   "shm: shared memory of this machine; verbs: InfiniBand or RoCE; sim: the "
                   "simulator, in virtual time")
      ->check(CLI::IsMember({"shm", "verbs", "sim"}))
      ->capture_default_str();
  command
      ->add_option("--workload", options->workload,
                   "thesis, ycsb-a, ycsb-b, ycsb-c, ycsb-d or ycsb-f")
      ->capture_default_str();
  command
      ->add_option("--distribution", options->distribution,
                   "key distribution: uniform, zipfian, latest, working-set or loop (default: the "
                   "workload's)")
      ->check(CLI::IsMember({"uniform", "zipfian", "latest", "working-set", "loop"}));
  command
      ->add_option("--reads", options->reads_percent,
                   "percentage of reads; the rest are updates (default: the workload's)")
      ->check(CLI::Range(0, 100));
  command
      ->add_option("--deletes", options->deletes_percent,
                   "percentage of operations that are DELETEs instead of updates")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  CLI::Option* const card = command->add_option(
      "--card", options->card,
      "sim: predict the time on this card; a file, or a name of docs/performance.md");
  add_condition_options(*command, *card, *options);
  command
      ->add_option("--nodes", options->cluster.nodes,
                   "sim: number of machines that the clients are distributed among")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      ->add_flag("--server-on-node", options->cluster.server_on_node,
                 "sim: the server runs on the first of these machines, and shares its card and its "
                 "processors with the clients there (default: it has a machine of its own)")
      ->needs(card);
  command->add_option("--clients", benchmark.clients, "number of clients, up to 1,000")
      ->capture_default_str();
  command->add_option("--in-flight", benchmark.in_flight, "concurrent operations per client")
      ->capture_default_str();
  command->add_flag("--batches", benchmark.batches,
                    "the concurrent operations of a client are one batch after the other");
  command->add_option("--keys", options->keys,
                      "number of keys stored before the run (default: 1000000, sim: 100000)");
  command->add_option("--key-bytes", benchmark.key_bytes, "length of a key in bytes")
      ->capture_default_str();
  command->add_option("--value-bytes", benchmark.value_bytes, "length of a value in bytes")
      ->capture_default_str();
  command
      ->add_option("--load", benchmark.load, "load factor of the table after all keys are stored")
      ->capture_default_str();
  command->add_option("--seconds", benchmark.seconds, "duration of the run in the fabric's time")
      ->capture_default_str();
  command->add_option("--seed", benchmark.seed, "seed of the operations")->capture_default_str();
  command->add_option("--region-size", benchmark.region_bytes, "size of a client's region")
      ->transform(size_in_bytes(1, std::uint64_t{1} << 38U))
      ->capture_default_str();
  command
      ->add_option("--readahead", options->readahead,
                   "readahead as ENTRIES,BYTES,CONTAINERS (default: the fabric's)")
      ->delimiter(',')
      ->expected(3);
  command
      ->add_option("--location-cache", benchmark.location_cache_entries,
                   "entries of each client's location cache; 0: no cache (default: the fabric's)")
      ->check(CLI::Range(0, 1 << 28));
  command->add_flag("--semi-spaces", benchmark.semi_spaces,
                    "two mature spaces that hold the data alternately, instead of blocks");
  add_reference_bit_options(*command, benchmark.reference_bits, "as many as the memory leaves");
  command->add_option("--name", options->real_time.server,
                      "a running server, which keeps what the benchmark stores (default: the "
                      "benchmark starts its own server)");
  command->add_option("--directory", fabric.directory,
                      "shm: the directory of that server's socket");
  add_device_options(*command, fabric);
  command->add_flag("--threads", options->threads,
                    "except sim: run the server and the clients as threads instead of processes");
  command->add_flag("--huge-pages", fabric.huge_pages, "except sim: use pages of 2 MiB");
  command->add_flag("--floor", options->floor,
                    "measure only hashing the keys and copying the bytes, without a store");
  command->add_flag("--kill-client", options->kills_client,
                    "kill the process of the first client half-way through the run, and print how "
                    "the others go on");
  command->add_flag("--json", options->json, "print the result as JSON");
  command->footer(
      "Exit status: 0 measured, 1 a value was wrong or a party failed, 2 wrong usage; with --name\n"
      "also those of get: 3 no such server, 4 no permission, 5 the server speaks another version,\n"
      "7 no memory on this machine, 11 the server accepts no more clients or does not respond.");
  command->callback([options, &exit_status] { exit_status = bench(*options); });
}

}  // namespace falafel::command_line
