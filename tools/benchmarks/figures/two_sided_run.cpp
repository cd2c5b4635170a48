#include "tools/benchmarks/figures/two_sided_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/assert.h"
#include "fabric/fiber_stack.h"
#include "fabric/random.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "fabric/text.h"
#include "stores/two_sided/client.h"
#include "stores/two_sided/server.h"
#include "tools/benchmarks/figures/distribution.h"

namespace falafel::figures {
namespace {

constexpr std::uint32_t hardware_threads = 32;  // of each machine (3.3.1)
constexpr std::uint32_t sets_per_hundred = 6;
constexpr std::uint64_t servers_started_ns = 10'000'000;
constexpr std::uint64_t begin_ns = 40'000'000;  // all clients are connected
constexpr std::string_view server_machine = "workers";
constexpr std::string_view client_machine = "clients";

two_sided::Options options_of(const TwoSidedLoad& load) {
  two_sided::Options options = two_sided::published_options(load.transport);
  options.waiting = two_sided::Waiting::blocking;  // Conditions::threads_block decides
  options.max_clients = 1;
  options.buckets = 1;
  return options;
}

std::uint64_t operations_of_client(const TwoSidedLoad& load) {
  return benchmark_operations / benchmark_lists / load.coarseness;
}

// The number of operations of the benchmark that one of the run stands for.
double operations_per_operation(const TwoSidedLoad& load) {
  return static_cast<double>(benchmark_operations) / load.clients /
         static_cast<double>(operations_of_client(load));
}

// The time of one step, for each pair in the list.
std::uint64_t step_ps(const TwoSidedLoad& load) {
  const double pairs = benchmark_set_share * static_cast<double>(operations_of_client(load));
  return static_cast<std::uint64_t>(
      std::llround(load.pair_ns * 1e3 * load.coarseness / std::max(pairs, 1.0)));
}

sim::timing::Profile timed_profile(const sim::timing::Profile& card, const TwoSidedLoad& load) {
  sim::timing::Profile profile = card;
  profile.processors = hardware_threads;
  profile.conditions.shares_processors = true;
  profile.conditions.threads_block = load.waiting == two_sided::Waiting::blocking;
  profile.conditions.list_step_ps_per_pair = step_ps(load);
  return profile;
}

class TwoSidedMeasurement {
 public:
  TwoSidedMeasurement(const sim::timing::Profile& card, const TwoSidedLoad& load)
      : load_(load),
        options_(options_of(load)),
        profile_(timed_profile(card, load)),
        scale_(operations_per_operation(load)) {}

  TwoSidedCost run() {
    sim::SimulationOptions options;
    options.granularity = sim::Granularity::packet;
    options.step_limit = 1'000'000'000'000;
    sim::RandomStrategy strategy(load_.seed);
    fabric::FiberStackPool stacks;
    sim::Simulation simulation(options, strategy, stacks, profile_);
    for (const std::uint32_t number : order_of_workers()) {
      simulation.add_host({.name = worker_name(number), .machine = std::string(server_machine)},
                          [this](fabric::Host& host) { serve(host); });
    }
    for (std::uint32_t number = 0; number < load_.clients; ++number) {
      simulation.add_host(
          {.name = fmt::format("client {}", number), .machine = std::string(client_machine)},
          [this, number](fabric::Host& host) { operate(host, number); });
    }
    const sim::RunResult result = simulation.run();
    FALAFEL_ASSERT(result.outcome == sim::Outcome::completed, "{}", result.explanation);
    return cost(simulation);
  }

 private:
  static std::string worker_name(std::uint32_t number) { return fmt::format("worker {}", number); }

  // Threads take turns in the order in which they are added. It is not that of the clients, because
  // two machines do not take turns in step.
  std::vector<std::uint32_t> order_of_workers() const {
    std::vector<std::uint32_t> order(load_.clients);
    std::iota(order.begin(), order.end(), 0);
    fabric::RandomGenerator random(load_.seed);
    for (std::size_t left = order.size(); left > 1; --left) {
      std::swap(order[left - 1], order[random.below(left)]);
    }
    return order;
  }

  void serve(fabric::Host& host) {
    host.spawn({.name = "server", .daemon = true}, [this, &host] {
      const auto server = two_sided::Server::start(host, options_);
      FALAFEL_ASSERT(server.has_value(), "{}", server.error().detail);
      host.sleep_until(fabric::never_ns);
    });
  }

  void operate(fabric::Host& host, std::uint32_t number) {
    host.sleep_until(servers_started_ns);
    const auto client = two_sided::Client::connect(
        host, {.host = worker_name(number), .service = options_.service}, options_);
    FALAFEL_ASSERT(client.has_value(), "{}", client.error().detail);
    const double start_interval_ns = static_cast<double>(load_.start_interval_ns) / scale_;
    host.sleep_until(begin_ns + static_cast<std::uint64_t>(start_interval_ns * number));
    BenchmarkClient benchmark{
        .host = host, .store = **client, .number = number, .phase = host.random(100)};
    const std::uint64_t operations = operations_of_client(load_);
    for (std::uint64_t count = 0; count < operations; ++count) execute_one(benchmark);
    end_ns_ = std::max(end_ns_, host.now_ns());
  }

  struct BenchmarkClient {
    fabric::Host& host;
    two_sided::Client& store;
    std::uint32_t number;
    // SETs have equal distances, because chance would weigh more in a run than in the benchmark,
    // which has more operations.
    std::uint64_t phase;
    // For each operation so far: if it was a SET, the number of SETs before it.
    std::vector<std::optional<std::uint64_t>> sets{};
    std::uint64_t pairs = 0;
  };

  void execute_one(BenchmarkClient& client) {
    do_in_turn(client.host, load_.untimed_serial_ns, untimed_end_ns_);
    const std::uint64_t count = client.sets.size();
    const bool is_set = (client.phase + count * sets_per_hundred) % 100 < sets_per_hundred;
    // One is the key "count -1", which nobody stores.
    const std::uint64_t chosen = is_set ? count + 1 : client.host.random(count + 1);
    const std::string key = key_of(client.number, chosen);
    const std::uint64_t start_ns = client.host.now_ns();
    do_in_turn(client.host, load_.timed_serial_ns, timed_end_ns_);
    if (is_set) {
      set(client, key, count);
    } else {
      get(client, key, chosen);
    }
    samples_us_.push_back(static_cast<double>(client.host.now_ns() - start_ns) / 1e3);
    client.host.yield();
  }

  static void do_in_turn(fabric::Host& host, std::uint64_t duration_ns, std::uint64_t& end_ns) {
    if (duration_ns == 0) return;
    end_ns = std::max(end_ns, host.now_ns()) + duration_ns;
    host.sleep_until(end_ns);
  }

  // As in the benchmark, but of one length: a key that begins another one would be found in its
  // list here always, and there in one of 1,024 cases.
  static std::string key_of(std::uint32_t client, std::uint64_t chosen) {
    return fmt::format("Key from instance {} count {:08}", client, chosen);
  }

  void set(BenchmarkClient& client, const std::string& key, std::uint64_t count) {
    const std::string value =
        fmt::format("Message from instance {} count {}", client.number, count);
    const auto stored = client.store.set(fabric::bytes_of(key), fabric::bytes_of(value));
    FALAFEL_ASSERT(stored.answer == two_sided::Answer::stored, "SET: {}", to_string(stored.answer));
    pairs_walked_ += client.pairs;
    client.sets.emplace_back(client.pairs++);
  }

  void get(BenchmarkClient& client, const std::string& key, std::uint64_t chosen) {
    const auto found = client.store.get(fabric::bytes_of(key));
    const std::optional<std::uint64_t> before =
        chosen == 0 ? std::nullopt : client.sets[chosen - 1];
    const two_sided::Answer expected =
        before ? two_sided::Answer::found : two_sided::Answer::not_found;
    FALAFEL_ASSERT(found.answer == expected, "GET: {}", to_string(found.answer));
    ++gets_;
    if (!before) ++absent_;
    pairs_walked_ += before ? client.pairs - *before : client.pairs;  // new pairs are in front
    client.sets.emplace_back();
  }

  TwoSidedCost cost(const sim::Simulation& simulation) {
    std::ranges::sort(samples_us_);
    const auto operations = static_cast<double>(samples_us_.size());
    const double sum_us = std::accumulate(samples_us_.begin(), samples_us_.end(), 0.0);
    TwoSidedCost cost{
        .operations_per_second = operations * 1e9 / static_cast<double>(end_ns_ - begin_ns),
        .mean_us = sum_us / operations,
        .median_us = quantile(samples_us_, 0.5),
        .tail_us = quantile(samples_us_, 0.99),
        .absent_share = static_cast<double>(absent_) / static_cast<double>(gets_),
        .pairs_walked = static_cast<double>(pairs_walked_) * load_.coarseness / operations};
    for (const sim::Usage& usage : simulation.usage()) {
      const double switches = static_cast<double>(usage.context_switches) * scale_;
      (usage.machine == server_machine ? cost.server_switches : cost.client_switches) += switches;
    }
    cost.latencies_us = std::move(samples_us_);
    return cost;
  }

  const TwoSidedLoad& load_;
  const two_sided::Options options_;
  const sim::timing::Profile profile_;
  const double scale_;
  std::vector<double> samples_us_;
  std::uint64_t end_ns_ = 0;
  std::uint64_t untimed_end_ns_ = 0;
  std::uint64_t timed_end_ns_ = 0;
  std::uint64_t gets_ = 0;
  std::uint64_t absent_ = 0;
  std::uint64_t pairs_walked_ = 0;
};

}  // namespace

TwoSidedCost measure_two_sided(const sim::timing::Profile& profile, const TwoSidedLoad& load) {
  return TwoSidedMeasurement(profile, load).run();
}

}  // namespace falafel::figures
