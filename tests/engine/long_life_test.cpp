// A server that lives for hours of virtual time, while clients come and go by the thousand, and
// some of them die. Nothing may be left of them: no place among the clients, no region of the
// store, no registration of memory. The process's memory is not examined, because the simulator
// keeps queues until a run is over; tests/vm/connections_test.py examines that of a real server.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/probes.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::RegionState;

constexpr std::uint32_t clients = 64;
constexpr std::uint64_t rounds = 160;
constexpr std::uint64_t round_ns = 90 * second_ns;
constexpr std::uint64_t busy_ns = 60 * second_ns;  // the rest of a round is long enough to fence
// Enough for all clients of one round, and far too few if something stays of each.
constexpr std::size_t registrations = 6 * clients;

class LongLife {
 public:
  engine::ServerStatistics live() {
    sim::Simulation simulation({.step_limit = 1'000'000'000}, strategy_, stacks_);
    simulation_ = &simulation;
    simulation.add_host(
        {.name = "server", .role = sim::Role::server, .max_registrations = registrations},
        [this](fabric::Host& host) { serve(host); });
    for (std::uint32_t client = 0; client < clients; ++client) {
      simulation.add_host({.name = name_of(client)},
                          [this, client](fabric::Host& host) { come_and_go(host, client); });
    }
    const sim::RunResult result = simulation.run();
    EXPECT_EQ(result.outcome, sim::Outcome::completed) << result.explanation;
    EXPECT_GE(result.time_ns, 3 * 3'600 * second_ns);
    EXPECT_EQ(result.probes[engine::probes::container_corrupted.index], 0U);
    return statistics_;
  }

  std::uint64_t connections() const { return connections_; }
  std::uint64_t deaths() const { return deaths_; }

 private:
  static std::string name_of(std::uint32_t client) { return fmt::format("client {}", client); }
  static bool dies(std::uint32_t client, std::uint64_t round) { return (client + round) % 8 == 0; }

  void serve(fabric::Host& host) {
    engine::ServerOptions options{.hash_key = engine::HashKey{}};
    options.max_clients = clients;
    options.geometry = {.table_entries = 512,
                        .region_bytes = 1'024,
                        .region_count = 3 * clients,
                        .mature_bytes = 1'024,
                        .mature_space_count = 512};
    const auto server = engine::Server::start(host, options);
    ASSERT_TRUE(server) << server.error().detail;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      host.sleep_until((round + 1) * round_ns - second_ns);
      examine(**server);
      restart_the_dead(round);
    }
  }

  // All clients of the round are gone.
  void examine(const engine::Server& server) {
    const engine::ServerInspection inspection = server.inspect();
    EXPECT_TRUE(inspection.idle);
    EXPECT_EQ(inspection.statistics.clients_connected, 0U);
    EXPECT_EQ(inspection.clients.size(), 0U);
    EXPECT_EQ(
        std::ranges::count(inspection.regions, RegionState::free, &engine::RegionInspection::state),
        3 * clients);
    statistics_ = inspection.statistics;
  }

  void restart_the_dead(std::uint64_t round) {
    for (std::uint32_t client = 0; client < clients; ++client) {
      if (dies(client, round)) simulation_->restart(name_of(client));
    }
  }

  void come_and_go(fabric::Host& host, std::uint32_t client) {
    // The next round: at the start, or at the end of the one in which this client died.
    for (std::uint64_t round = (host.now_ns() + busy_ns) / round_ns; round < rounds; ++round) {
      host.sleep_until(round * round_ns + second_ns);
      visit(host, client, round);
    }
  }

  void visit(fabric::Host& host, std::uint32_t client, std::uint64_t round) {
    const auto connected =
        Client::connect(host, {.host = "server", .service = engine::ServerOptions{}.service},
                        {.max_operations_in_flight = 1});
    ASSERT_TRUE(connected) << connected.error().detail;
    ++connections_;
    const Bytes key = bytes_of(fmt::format("key {}", client));
    while (host.now_ns() < round * round_ns + busy_ns) {
      EXPECT_EQ((*connected)->set(key, Bytes(200)).answer, Answer::stored);
      EXPECT_EQ((*connected)->get(key).answer, Answer::found);
      host.sleep_until(host.now_ns() + second_ns + host.random(10) * second_ns);
    }
    if (!dies(client, round)) return;
    ++deaths_;
    simulation_->crash(name_of(client));
    host.yield();
  }

  fabric::FiberStackPool stacks_;
  sim::RandomStrategy strategy_{1};
  sim::Simulation* simulation_ = nullptr;
  engine::ServerStatistics statistics_;  // after the last round
  std::uint64_t connections_ = 0;
  std::uint64_t deaths_ = 0;
};

TEST(LongLife, LeavesNothingOfClientsThatAreGone) {
  LongLife life;
  const engine::ServerStatistics statistics = life.live();
  EXPECT_EQ(life.connections(), clients * rounds);
  EXPECT_EQ(life.deaths(), clients * rounds / 8);
  EXPECT_EQ(statistics.clients_fenced, clients * rounds);
  EXPECT_EQ(statistics.clients_expelled, 0U);
  EXPECT_GT(statistics.mature_collections, 0U);
}

}  // namespace
}  // namespace falafel::engine_test
