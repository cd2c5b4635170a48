// Demonstrates the simulator: two clients increment one counter by RDMA, first incorrectly (READ,
// then WRITE), then with CAS. The program tries schedules until the incorrect version loses an
// update, records that schedule, replays it to the same trace hash, and optionally saves it as a
// replay file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/sim/options/options_table.h"
#include "fabric/sim/replay_file/replay_file.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "fabric/sim/strategies/recording_strategy.h"
#include "fabric/sim/strategies/replay_strategy.h"
#include "falafel_build_identity.h"

namespace {

using namespace falafel;

constexpr std::uint64_t clients = 2;
constexpr std::uint64_t increments = 3;
constexpr std::uint16_t service = 1;

struct Program {
  bool uses_cas = true;
};

struct CounterRun {
  sim::RunResult result;
  std::uint64_t counter = 0;
  bool holds() const { return counter == clients * increments; }
};

// One end of a connection with eight bytes of memory, enough for any verb.
struct Endpoint {
  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::unique_ptr<fabric::CompletionQueue> completions;
  std::shared_ptr<fabric::MemoryBlock> memory;
  std::unique_ptr<fabric::MemoryRegion> region;
  std::unique_ptr<fabric::QueuePair> queue_pair;
};

fabric::QueuePairOptions queue_pair_options(Endpoint& endpoint) {
  return {.protection_domain = endpoint.domain.get(),
          .send_completions = endpoint.completions.get(),
          .receive_completions = endpoint.completions.get(),
          .max_send_requests = 4,
          .max_receive_requests = 1};
}

Endpoint make_endpoint(fabric::Host& host, fabric::Access access) {
  Endpoint endpoint;
  endpoint.domain = host.device(0).create_protection_domain();
  endpoint.completions = host.device(0).create_completion_queue(16).value();
  endpoint.memory = host.allocate_memory(fabric::word_bytes).value();
  endpoint.region =
      endpoint.domain->register_memory(endpoint.memory, 0, fabric::word_bytes, access).value();
  return endpoint;
}

// The server only provides the memory of the counter.
void serve(fabric::Host& host, std::shared_ptr<fabric::MemoryBlock>& counter) {
  host.spawn({.name = "accept", .daemon = true}, [&host, &counter] {
    Endpoint endpoint = make_endpoint(
        host,
        {.local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true});
    counter = endpoint.memory;
    auto listener = host.device(0).listen(service).value();
    std::vector<std::unique_ptr<fabric::QueuePair>> connected;
    for (;;) {
      auto request = listener->accept(fabric::never_ns);
      fabric::PrivateData key(sizeof(std::uint32_t));
      const std::uint32_t remote_key = endpoint.region->remote_key();
      std::memcpy(key.data(), &remote_key, sizeof remote_key);
      auto accepted = request->accept(queue_pair_options(endpoint), std::move(key));
      if (accepted) connected.push_back(std::move(*accepted));
    }
  });
}

// Posts one request and waits for its completion; the result is in the local buffer.
std::uint64_t execute(Endpoint& endpoint, const fabric::WorkRequest& request) {
  const fabric::Result<void> posted = endpoint.queue_pair->post_send({&request, 1});
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  fabric::WorkCompletion completion;
  while (endpoint.completions->poll({&completion, 1}) == 0) {
    endpoint.completions->wait(fabric::never_ns);
  }
  FALAFEL_ASSERT(completion.status == fabric::CompletionStatus::success, "{}",
                 to_string(completion.status));
  return endpoint.memory->load(0);
}

void increment(Endpoint& endpoint, fabric::WorkRequest request, bool uses_cas) {
  for (;;) {
    request.opcode = fabric::Opcode::read;
    const std::uint64_t seen = execute(endpoint, request);
    if (!uses_cas) {
      endpoint.memory->store(0, seen + 1);
      request.opcode = fabric::Opcode::write;
      execute(endpoint, request);
      return;
    }
    request.opcode = fabric::Opcode::compare_and_swap;
    request.compare = seen;
    request.swap_or_add = seen + 1;
    if (execute(endpoint, request) == seen) return;
  }
}

void run_client(fabric::Host& host, bool uses_cas) {
  Endpoint endpoint = make_endpoint(host, {.local_write = true});
  fabric::Result<fabric::Connection> connection = host.device(0).connect(
      {.host = "server", .service = service}, queue_pair_options(endpoint), {}, fabric::never_ns);
  while (!connection) {  // the server may not listen yet
    host.yield();
    connection = host.device(0).connect({.host = "server", .service = service},
                                        queue_pair_options(endpoint), {}, fabric::never_ns);
  }
  endpoint.queue_pair = std::move(connection->queue_pair);
  fabric::WorkRequest request;
  request.length_bytes = fabric::word_bytes;
  request.local.key = endpoint.region->local_key();
  std::memcpy(&request.remote.key, connection->private_data.data(), sizeof request.remote.key);
  for (std::uint64_t count = 0; count < increments; ++count) {
    increment(endpoint, request, uses_cas);
  }
}

CounterRun run_counter(Program program, const sim::SimulationOptions& options,
                       sim::Strategy& strategy, fabric::FiberStackPool& stacks) {
  std::shared_ptr<fabric::MemoryBlock> counter;
  CounterRun run;
  sim::Simulation simulation(options, strategy, stacks);
  simulation.add_host({.name = "server", .role = sim::Role::server},
                      [&](fabric::Host& host) { serve(host, counter); });
  for (std::uint64_t client = 0; client < clients; ++client) {
    simulation.add_host({.name = fmt::format("client {}", client)},
                        [&](fabric::Host& host) { run_client(host, program.uses_cas); });
  }
  run.result = simulation.run();
  if (counter != nullptr) std::memcpy(&run.counter, counter->bytes().data(), sizeof run.counter);
  return run;
}

struct Campaign {
  std::uint64_t schedules = 0;
  std::uint64_t steps = 0;
  double seconds = 0;
  std::optional<std::uint64_t> failing_seed;
};

Campaign search(Program program, std::uint64_t first_seed, std::uint64_t schedules) {
  fabric::FiberStackPool stacks;
  Campaign campaign;
  const auto start = std::chrono::steady_clock::now();
  while (campaign.schedules < schedules && !campaign.failing_seed) {
    const std::uint64_t seed = first_seed + campaign.schedules++;
    const sim::SimulationOptions options;
    const auto strategy = sim::make_strategy(options, seed);
    const CounterRun run = run_counter(program, options, *strategy, stacks);
    campaign.steps += run.result.steps;
    if (!run.holds()) campaign.failing_seed = seed;
  }
  campaign.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return campaign;
}

void print(std::string_view title, const Campaign& campaign) {
  fmt::print("{}: {} schedules, {} steps, {:.0f} schedules per second: ", title, campaign.schedules,
             campaign.steps, static_cast<double>(campaign.schedules) / campaign.seconds);
  if (campaign.failing_seed) {
    fmt::print("an update was lost with seed {}\n", *campaign.failing_seed);
  } else {
    fmt::print("no update was lost\n");
  }
}

sim::ReplayFile record(std::uint64_t seed) {
  fabric::FiberStackPool stacks;
  sim::ReplayFile file;
  file.scenario = "counter by READ and WRITE";
  file.scenario_options = nlohmann::json::object();
  file.build_identity = std::string(build::identity);
  const auto strategy = sim::make_strategy(file.options, seed);
  sim::RecordingStrategy recording(*strategy);
  file.trace_hash =
      run_counter({.uses_cas = false}, file.options, recording, stacks).result.trace_hash;
  file.choices = recording.choices();
  return file;
}

// Exit status: 1 the replay matches (and loses an update again), 3 it does not match.
int replay(const sim::ReplayFile& file) {
  fabric::FiberStackPool stacks;
  sim::ReplayStrategy strategy(file.choices);
  const CounterRun run = run_counter({.uses_cas = false}, file.options, strategy, stacks);
  fmt::print("replayed {} choices in {} steps: counter {} of {}, trace hash {:016x} ({})\n",
             file.choices.size(), run.result.steps, run.counter, clients * increments,
             run.result.trace_hash,
             run.result.trace_hash == file.trace_hash ? "as recorded" : "NOT as recorded");
  if (run.result.outcome == sim::Outcome::diverged) {
    fmt::print("{}\nrecorded by {}, this is {}\n", run.result.explanation, file.build_identity,
               build::identity);
  }
  return run.result.trace_hash == file.trace_hash ? 1 : 3;
}

int demonstrate(std::uint64_t seed, std::uint64_t schedules, const std::string& save_path) {
  fmt::print("{} clients increment one counter {} times each; seeds from {} on\n", clients,
             increments, seed);
  const Campaign wrong = search({.uses_cas = false}, seed, schedules);
  print("READ, then WRITE", wrong);
  const Campaign right = search({.uses_cas = true}, seed, schedules);
  print("READ, then CAS", right);
  if (!wrong.failing_seed || right.failing_seed) return 3;
  const sim::ReplayFile file = record(*wrong.failing_seed);
  if (replay(file) != 1) return 3;
  if (!save_path.empty()) {
    if (const auto saved = sim::save_replay_file(file, save_path); !saved) {
      fmt::print(stderr, "{}\n", saved.error());
      return 3;
    }
    fmt::print("replay it with: {} --replay {}\n", "build/release/bin/falafel-simulator-demo",
               save_path);
  }
  return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const fabric::StackOverflowReport stack_overflow_report;
  CLI::App app("Demonstrates the simulator: a lost update, found, recorded and replayed");
  std::uint64_t seed = 1;
  std::uint64_t schedules = 100'000;
  std::string save_path;
  std::string replay_path;
  bool prints_options = false;
  app.add_option("--seed", seed, "the first seed")->capture_default_str();
  app.add_option("--schedules", schedules, "number of schedules to try")->capture_default_str();
  app.add_option("--save", save_path, "save the failing schedule to this file");
  app.add_option("--replay", replay_path,
                 "replay the schedule in this file; exit status 1 if it matches");
  app.add_flag("--options-table", prints_options, "print the simulator's options as Markdown");
  CLI11_PARSE(app, argument_count, arguments);

  if (prints_options) {
    fmt::print("{}", sim::options_markdown_table());
    return 0;
  }
  if (!replay_path.empty()) {
    const auto file = sim::load_replay_file(replay_path);
    if (!file) {
      fmt::print(stderr, "{}: {}\n", replay_path, file.error());
      return 2;
    }
    return replay(*file);
  }
  return demonstrate(seed, schedules, save_path);
}
