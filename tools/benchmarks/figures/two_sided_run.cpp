#include "tools/benchmarks/figures/two_sided_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "fabric/assert.h"
#include "fabric/fiber_stack.h"
#include "fabric/random.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "falafel/latency_histogram.h"
#include "stores/two_sided/client.h"
#include "stores/two_sided/server.h"

namespace falafel::figures {
namespace {

constexpr std::uint32_t hardware_threads = 32;    // of each machine (3.3.1)
constexpr std::uint32_t sets_per_hundred = 6;     // rand() % 100 <= 5 (3.3)
constexpr std::uint64_t keys = 100;               // the paper does not say how many
constexpr std::uint64_t begin_ns = 60'000'000;    // all clients have stored their keys
constexpr std::uint64_t settling_ns = 1'000'000;  // until the first operation is counted

two_sided::Options options_of(const TwoSidedLoad& load) {
  two_sided::Options options = two_sided::published_options(load.transport);
  options.waiting = two_sided::Waiting::blocking;  // Conditions::threads_block decides
  options.max_clients = 1;
  return options;
}

sim::timing::Profile timed_profile(const sim::timing::Profile& card, const TwoSidedLoad& load) {
  sim::timing::Profile profile = card;
  profile.processors = hardware_threads;
  profile.conditions.shares_processors = true;
  profile.conditions.threads_block = load.waiting == two_sided::Waiting::blocking;
  // The store spends nothing on this work, so it stands for the benchmark's.
  profile.operation_ps = load.timed_work_ns * 1'000;
  profile.round_trip_ps = load.think_ns * 1'000;
  return profile;
}

class TwoSidedMeasurement {
 public:
  TwoSidedMeasurement(const sim::timing::Profile& card, const TwoSidedLoad& load)
      : load_(load), options_(options_of(load)), profile_(timed_profile(card, load)) {}

  TwoSidedCost run() {
    sim::SimulationOptions options;
    options.granularity = sim::Granularity::packet;
    options.step_limit = 1'000'000'000'000;
    sim::RandomStrategy strategy(load_.seed);
    fabric::FiberStackPool stacks;
    sim::Simulation simulation(options, strategy, stacks, profile_);
    for (const std::uint32_t number : order_of_workers()) {
      simulation.add_host({.name = worker_name(number), .machine = "workers"},
                          [this](fabric::Host& host) { serve(host); });
    }
    for (std::uint32_t number = 0; number < load_.clients; ++number) {
      simulation.add_host({.name = fmt::format("client {}", number), .machine = "clients"},
                          [this, number](fabric::Host& host) { operate(host, number); });
    }
    const sim::RunResult result = simulation.run();
    FALAFEL_ASSERT(result.outcome == sim::Outcome::completed, "{}", result.explanation);
    return cost();
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
    constexpr std::uint64_t servers_started_ns = 10'000'000;
    host.sleep_until(servers_started_ns);
    const auto client = two_sided::Client::connect(
        host, {.host = worker_name(number), .service = options_.service}, options_);
    FALAFEL_ASSERT(client.has_value(), "{}", client.error().detail);
    for (std::uint64_t key = 0; key < keys; ++key) set(**client, key);
    // Clients do not start in step with each other.
    host.sleep_until(begin_ns + host.random(1 + load_.timed_work_ns + load_.think_ns));
    const std::uint64_t end_ns = begin_ns + settling_ns + load_.duration_ns;
    while (host.now_ns() < end_ns) execute_one(host, **client, end_ns);
  }

  void execute_one(fabric::Host& host, two_sided::Client& client, std::uint64_t end_ns) {
    const std::uint64_t start_ns = host.now_ns();
    host.spend(fabric::Work::operation, 0);
    const std::uint64_t key = host.random(keys);
    if (host.random(100) < sets_per_hundred) {
      set(client, key);
    } else {
      const auto found = client.get(std::as_bytes(std::span(&key, 1)));
      FALAFEL_ASSERT(found.answer == two_sided::Answer::found, "GET: {}", to_string(found.answer));
    }
    const std::uint64_t now_ns = host.now_ns();
    if (start_ns >= begin_ns + settling_ns && now_ns < end_ns) {
      latencies_.record(now_ns - start_ns);
      samples_us_.push_back(static_cast<double>(now_ns - start_ns) / 1e3);
      sum_ns_ += now_ns - start_ns;
    }
    host.spend(fabric::Work::round_trip, 0);
    host.yield();
  }

  static void set(two_sided::Client& client, std::uint64_t key) {
    constexpr std::array<std::byte, 24> value{};
    const auto stored = client.set(std::as_bytes(std::span(&key, 1)), value);
    FALAFEL_ASSERT(stored.answer == two_sided::Answer::stored, "SET: {}", to_string(stored.answer));
  }

  TwoSidedCost cost() {
    const auto operations = static_cast<double>(latencies_.count());
    std::ranges::sort(samples_us_);
    return {.operations_per_second = operations * 1e9 / static_cast<double>(load_.duration_ns),
            .mean_us = static_cast<double>(sum_ns_) / operations / 1e3,
            .median_us = static_cast<double>(latencies_.quantile(0.5)) / 1e3,
            .tail_us = static_cast<double>(latencies_.quantile(0.99)) / 1e3,
            .latencies_us = std::move(samples_us_)};
  }

  const TwoSidedLoad& load_;
  const two_sided::Options options_;
  const sim::timing::Profile profile_;
  LatencyHistogram latencies_;
  std::vector<double> samples_us_;
  std::uint64_t sum_ns_ = 0;
};

}  // namespace

TwoSidedCost measure_two_sided(const sim::timing::Profile& profile, const TwoSidedLoad& load) {
  return TwoSidedMeasurement(profile, load).run();
}

}  // namespace falafel::figures
