// The cost of replication on a card, in the timed simulator: the same registers at one server and
// at three. Prints the tables of docs/replication.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "fabric/sim/timing/profile.h"
#include "stores/replicated/client.h"
#include "stores/replicated/server.h"

namespace falafel::replicated_predictions_test {
namespace {

using replicated::Client;

constexpr std::uint64_t keys = 1'000;
constexpr std::string_view value = "012345678901234567890123";

std::string name_of_server(std::uint64_t number) { return fmt::format("server {}", number); }

struct Load {
  std::uint64_t servers = 3;
  std::uint32_t clients = 1;
  std::uint64_t gets_percent = 100;
  std::uint64_t operations = 400;  // of each client
  // If true, a client works on its own keys alone, so that it knows their words.
  bool has_own_keys = true;
  std::uint64_t pause_ns = 0;  // before each operation
  bool uses_locations = true;
  bool uses_guesses = true;
};

struct Cost {
  double median_us = 0;
  double round_trips = 0;
  double operations_per_second = 0;
};

class Measurement {
 public:
  Measurement(const sim::timing::Profile& card, const Load& load) : card_(card), load_(load) {
    options_.keys = keys;
    options_.writers = load.clients;
    options_.containers_per_writer = 20'000;
    options_.value_bytes = value.size();
    options_.guesses = load.uses_guesses;
    options_.locations = load.uses_locations;
  }

  Cost run() {
    sim::SimulationOptions options;
    options.granularity = sim::Granularity::packet;
    options.step_limit = 1'000'000'000;
    sim::RandomStrategy strategy(1);
    fabric::FiberStackPool stacks;
    sim::Simulation simulation(options, strategy, stacks, card_);
    for (std::uint64_t server = 0; server < load_.servers; ++server) {
      simulation.add_host({.name = name_of_server(server), .role = sim::Role::server},
                          [this, server](fabric::Host& host) {
                            host.spawn({.name = "server", .daemon = true}, [this, &host, server] {
                              const auto running = replicated::start_server(host, server, options_);
                              ++started_;
                              host.sleep_until(fabric::never_ns);
                            });
                          });
    }
    for (std::uint32_t number = 0; number < load_.clients; ++number) {
      simulation.add_host({.name = fmt::format("client {}", number),
                           .machine = fmt::format("machine {}", number % 5)},
                          [this, number](fabric::Host& host) { act(host, number); });
    }
    const sim::RunResult result = simulation.run();
    EXPECT_EQ(result.outcome, sim::Outcome::completed) << result.explanation;
    return cost();
  }

 private:
  void act(fabric::Host& host, std::uint32_t number) {
    while (started_ < load_.servers) host.sleep_until(host.now_ns() + 1'000);
    std::vector<stores::Member> members;
    for (std::uint64_t server = 0; server < load_.servers; ++server) {
      members.push_back({.address = {.host = name_of_server(server), .service = options_.service},
                         .incarnation = server});
    }
    const auto client = std::move(*Client::create(host, number, members, options_));
    const std::uint64_t own_keys = keys / load_.clients;
    for (std::uint64_t key = 0; key < own_keys; ++key) {
      client->set(number * own_keys + key, std::as_bytes(std::span(value)));
    }
    ++loaded_;
    while (loaded_ < load_.clients) host.sleep_until(host.now_ns() + 1'000);
    const std::uint64_t begin_ns = host.now_ns();
    const std::uint64_t trips_before = client->round_trips();
    for (std::uint64_t count = 0; count < load_.operations; ++count) {
      const std::uint64_t key =
          load_.has_own_keys ? number * own_keys + host.random(own_keys) : host.random(keys);
      if (load_.pause_ns > 0) host.sleep_until(host.now_ns() + load_.pause_ns);
      operate(host, *client, key);
    }
    round_trips_ += client->round_trips() - trips_before;
    longest_ns_ = std::max(longest_ns_, host.now_ns() - begin_ns);
  }

  void operate(fabric::Host& host, Client& client, std::uint64_t key) {
    const std::uint64_t before_ns = host.now_ns();
    if (host.random(100) < load_.gets_percent) {
      EXPECT_EQ(client.get(key).answer, stores::Answer::found);
    } else {
      EXPECT_EQ(client.set(key, std::as_bytes(std::span(value))), stores::Answer::stored);
    }
    latencies_ns_.push_back(host.now_ns() - before_ns);
  }

  Cost cost() {
    const auto middle =
        latencies_ns_.begin() + static_cast<std::ptrdiff_t>(latencies_ns_.size() / 2);
    std::ranges::nth_element(latencies_ns_, middle);
    const auto operations = static_cast<double>(latencies_ns_.size());
    return {.median_us = static_cast<double>(*middle) / 1e3,
            .round_trips = static_cast<double>(round_trips_) / operations,
            .operations_per_second = operations / (static_cast<double>(longest_ns_) / 1e9)};
  }

  const sim::timing::Profile& card_;
  Load load_;
  replicated::Options options_;
  std::uint64_t started_ = 0;
  std::uint32_t loaded_ = 0;
  std::uint64_t round_trips_ = 0;
  std::uint64_t longest_ns_ = 0;
  std::vector<std::uint64_t> latencies_ns_;
};

Cost measure(const sim::timing::Profile& card, Load load, std::uint64_t servers) {
  load.servers = servers;
  return Measurement(card, load).run();
}

// One server and three side by side.
struct Pair {
  Cost one;
  Cost three;
};

Pair measure_both(const Load& load) {
  const auto card = sim::timing::find_or_read_profile("connectx3-qdr");
  return {.one = measure(*card, load, 1), .three = measure(*card, load, 3)};
}

Pair print_latency(std::string_view what, Load load) {
  load.pause_ns = 20'000;
  const Pair pair = measure_both(load);
  fmt::print("| {} | {:.2f} | {:.1f} | {:.2f} | {:.1f} |\n", what, pair.one.round_trips,
             pair.one.median_us, pair.three.round_trips, pair.three.median_us);
  return pair;
}

Pair print_throughput(std::string_view what, const Load& load) {
  const Pair pair = measure_both(load);
  fmt::print("| {} | {:.2f} | {:.2f} | {:.1f} | {:.2f} | {:.2f} | {:.1f} |\n", what,
             pair.one.operations_per_second / 1e6, pair.one.round_trips, pair.one.median_us,
             pair.three.operations_per_second / 1e6, pair.three.round_trips, pair.three.median_us);
  return pair;
}

TEST(ReplicatedPredictions, TheLatencyOfALoneClientIsThatOfItsRoundTrips) {
  const Pair known_get = print_latency("GET, known", {});
  const Pair get = print_latency("GET, not known", {.uses_locations = false});
  const Pair known_set = print_latency("SET, known", {.gets_percent = 0});
  const Pair set = print_latency("SET, not known", {.gets_percent = 0, .uses_guesses = false});
  EXPECT_NEAR(known_get.three.round_trips, 1, 0.01);
  EXPECT_NEAR(get.three.round_trips, 2, 0.01);
  EXPECT_NEAR(known_set.three.round_trips, 1, 0.01);
  EXPECT_NEAR(set.three.round_trips, 2, 0.01);
  EXPECT_LT(known_set.three.median_us, set.three.median_us);
  for (const Pair& pair : {known_get, get, known_set, set}) {
    EXPECT_LT(pair.three.median_us, 1.5 * pair.one.median_us);
  }
}

TEST(ReplicatedPredictions, TwentyClientsShareTheirKeys) {
  Load load{.clients = 20, .gets_percent = 95, .operations = 100, .has_own_keys = false};
  const Pair reads = print_throughput("95 % GETs", load);
  load.uses_guesses = false;
  print_throughput("95 % GETs, no guesses", load);
  load.gets_percent = 50;
  print_throughput("50 % GETs, no guesses", load);
  load.uses_guesses = true;
  print_throughput("50 % GETs", load);
  EXPECT_GT(reads.three.operations_per_second, reads.one.operations_per_second / 3);
}

}  // namespace
}  // namespace falafel::replicated_predictions_test
