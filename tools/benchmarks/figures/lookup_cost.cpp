#include "tools/benchmarks/figures/lookup_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <string>

#include "engine/client/client.h"
#include "engine/server/server.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"

namespace falafel::figures {
namespace {

using engine::Answer;
using engine::Client;
using engine::OperationStatistics;
using engine::Server;

constexpr std::uint64_t load_steps = 100;  // one percent of the table per step
constexpr std::uint64_t last_successful_step = 91;
constexpr std::uint64_t last_unsuccessful_step = 73;

std::vector<std::byte> to_key(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> stored_key(std::uint64_t number) {
  return to_key(fmt::format("stored {}", number));
}

std::vector<std::byte> absent_key(std::uint64_t number) {
  return to_key(fmt::format("absent {}", number));
}

engine::ServerOptions server_options(const LookupCostOptions& options, std::uint64_t key_set) {
  engine::ServerOptions server;
  server.safeguards = options.safeguards;
  server.geometry.table_entries = options.table_entries;
  server.geometry.region_bytes = 1 << 20;
  server.geometry.region_count = 8;
  server.geometry.mature_bytes = (std::uint64_t{16} << 20) + 128 * options.table_entries;
  server.hash_key.emplace();
  const std::uint64_t secret = options.seed * 1'000'003 + key_set;
  std::memcpy(server.hash_key->data(), &secret, sizeof secret);
  return server;
}

// Reads one container at a time, as the thesis does; readahead would count containers that the
// search does not need.
engine::ClientOptions client_options(const LookupCostOptions& options) {
  engine::ClientOptions client;
  client.safeguards = options.safeguards;
  client.readahead = {
      .chunk_entries = 64, .container_bytes = 64, .containers = 1, .adaptive = false};
  return client;
}

// The sums for one load over all key sets.
struct Sums {
  std::uint64_t finds = 0;
  OperationStatistics statistics;
};

struct Measurement {
  std::vector<Sums> successful = std::vector<Sums>(last_successful_step + 1);
  std::vector<Sums> unsuccessful = std::vector<Sums>(last_unsuccessful_step + 1);
};

void count_find(Client& client, const std::vector<std::byte>& key, Answer expected, Sums& sums) {
  const engine::GetResult result = client.get(key);
  FALAFEL_ASSERT(result.answer == expected, "GET answered {}", to_string(result.answer));
  ++sums.finds;
  sums.statistics += result.statistics;
}

// The costs of existing keys vary more in a fuller table, so it takes more samples. The samples are
// spread over the insertion order, because keys inserted later are further from their home slots.
void measure_successful(Client& client, const LookupCostOptions& options, std::uint64_t step,
                        std::uint64_t stored, std::mt19937_64& random, Sums& sums) {
  const std::uint64_t samples =
      std::min(stored, options.samples * load_steps / (load_steps - step));
  for (std::uint64_t sample = 0; sample < samples; ++sample) {
    const std::uint64_t number = (sample * stored + random() % stored) / samples;
    count_find(client, stored_key(number), Answer::found, sums);
  }
}

// Fills the table in steps and measures at each one. The requested keys do not depend on the
// schedule, so the figure follows from the options and the algorithms alone.
void measure(Client& client, const LookupCostOptions& options, std::uint64_t key_set,
             Measurement& measurement) {
  std::mt19937_64 random(options.seed + key_set);  // yields the same numbers on every platform
  std::uint64_t stored = 0;
  std::uint64_t absent = 0;
  for (std::uint64_t step = 1; step <= last_successful_step; ++step) {
    for (; stored < options.table_entries * step / load_steps; ++stored) {
      const Answer answer = client.set(stored_key(stored), {}).answer;
      FALAFEL_ASSERT(answer == Answer::stored, "SET answered {}", to_string(answer));
    }
    measure_successful(client, options, step, stored, random, measurement.successful[step]);
    if (step > last_unsuccessful_step) continue;
    for (std::uint64_t sample = 0; sample < options.samples; ++sample) {
      count_find(client, absent_key(absent++), Answer::not_found, measurement.unsuccessful[step]);
    }
  }
}

void run_key_set(const LookupCostOptions& options, std::uint64_t key_set,
                 fabric::FiberStackPool& stacks, Measurement& measurement) {
  sim::SimulationOptions simulation_options;
  simulation_options.granularity = sim::Granularity::packet;
  simulation_options.step_limit = 1'000'000'000'000;
  const auto strategy = sim::make_strategy(simulation_options, options.seed + key_set);
  sim::Simulation simulation(simulation_options, *strategy, stacks);
  bool serves = false;
  simulation.add_host({.name = "server", .role = sim::Role::server}, [&](fabric::Host& host) {
    host.spawn({.name = "server", .daemon = true}, [&] {
      const auto server = Server::start(host, server_options(options, key_set));
      FALAFEL_ASSERT(server.has_value(), "{}", server.error().detail);
      serves = true;
      host.sleep_until(fabric::never_ns);
    });
  });
  simulation.add_host({.name = "client"}, [&](fabric::Host& host) {
    while (!serves) host.sleep_until(host.now_ns() + 10'000);
    const auto client =
        Client::connect(host, {.host = "server", .service = 7}, client_options(options));
    FALAFEL_ASSERT(client.has_value(), "{}", client.error().detail);
    measure(**client, options, key_set, measurement);
  });
  const sim::RunResult result = simulation.run();
  FALAFEL_ASSERT(result.outcome == sim::Outcome::completed, "{}", result.explanation);
}

std::vector<LookupCost> means(const std::vector<Sums>& sums) {
  std::vector<LookupCost> costs;
  for (std::size_t step = 1; step < sums.size(); ++step) {
    const auto finds = static_cast<double>(sums[step].finds);
    costs.push_back({.load = static_cast<double>(step) / static_cast<double>(load_steps),
                     .lookups = static_cast<double>(sums[step].statistics.lookups) / finds,
                     .verbs = static_cast<double>(sums[step].statistics.verbs) / finds});
  }
  return costs;
}

}  // namespace

double predicted_successful_lookups(double load) { return (1 + 1 / (1 - load)) / 2; }

double predicted_unsuccessful_lookups(double load) {
  const double reciprocal = 1 / (1 - load);
  return (1 + reciprocal * reciprocal) / 2 - 1;
}

double predicted_successful_verbs(double load) { return predicted_successful_lookups(load) + 1; }

double predicted_unsuccessful_verbs(double load) {
  return predicted_unsuccessful_lookups(load) + 1;
}

double coefficient_of_determination(const std::vector<LookupCost>& measured,
                                    double LookupCost::*quantity, double (*predict)(double load)) {
  double mean = 0;
  for (const LookupCost& cost : measured) {
    mean += cost.*quantity / static_cast<double>(measured.size());
  }
  double unexplained = 0;
  double total = 0;
  for (const LookupCost& cost : measured) {
    const double residual = cost.*quantity - predict(cost.load);
    const double deviation = cost.*quantity - mean;
    unexplained += residual * residual;
    total += deviation * deviation;
  }
  return 1 - unexplained / total;
}

LookupCostFigure measure_lookup_cost(const LookupCostOptions& options,
                                     const std::function<void(std::uint64_t)>& on_progress) {
  fabric::FiberStackPool stacks;
  Measurement measurement;
  for (std::uint64_t key_set = 0; key_set < options.key_sets; ++key_set) {
    run_key_set(options, key_set, stacks, measurement);
    on_progress(key_set + 1);
  }
  return {.successful = means(measurement.successful),
          .unsuccessful = means(measurement.unsuccessful)};
}

}  // namespace falafel::figures
