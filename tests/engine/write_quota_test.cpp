// A quota limits how fast each client writes, keeps clients from each other's memory, and takes
// nothing from a client that writes less.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "fabric/sim/strategies/random_strategy.h"
#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

constexpr std::uint64_t quota_region_bytes = 1'024;
// A region each millisecond.
constexpr std::uint64_t quota_bytes_per_second = 1'000 * quota_region_bytes;
constexpr std::uint64_t sets_per_region = 7;  // of values that take 136 bytes with their key

StoreOptions with_quota(std::uint64_t bytes_per_second, std::uint64_t seed = 1) {
  StoreOptions options;
  options.seed = seed;
  options.server.client_bytes_per_second = bytes_per_second;
  options.server.geometry = {.table_entries = 64,
                             .region_bytes = quota_region_bytes,
                             .region_count = 16,
                             .mature_bytes = 32 * quota_region_bytes};
  return options;
}

// Overwrites one key. Returns how long the slowest SET took.
std::uint64_t write_much(fabric::Host& host, Client& client, int number, std::uint64_t sets) {
  const Bytes key = bytes_of(fmt::format("key {}", number));
  const Bytes value(100, std::byte{7});
  std::uint64_t slowest_ns = 0;
  for (std::uint64_t count = 0; count < sets; ++count) {
    const std::uint64_t begin_ns = host.now_ns();
    EXPECT_EQ(client.set(key, value).answer, Answer::stored);
    slowest_ns = std::max(slowest_ns, host.now_ns() - begin_ns);
  }
  return slowest_ns;
}

TEST(WriteQuota, LimitsEachClientForItself) {
  for_each_seed(20, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(with_quota(quota_bytes_per_second, seed), stacks);
    for (int number = 0; number < 2; ++number) {
      store.add_client([number](fabric::Host& host, Client& client) {
        constexpr std::uint64_t regions = 6;
        const std::uint64_t begin_ns = host.now_ns();
        write_much(host, client, number, regions * sets_per_region);
        const std::uint64_t taken_ns = host.now_ns() - begin_ns;
        // The first region is due at once, and the others a millisecond after each other.
        EXPECT_GE(taken_ns, (regions - 1) * millisecond_ns);
        EXPECT_LT(taken_ns, (regions + 1) * millisecond_ns);
      });
    }
    const StoreRun run = run_without_problems(store);
    EXPECT_GE(run.inspection.statistics.regions_postponed, 10U);
    EXPECT_EQ(run.inspection.statistics.regions_denied, 0U);
  });
}

// Neither does a client wait whose turn comes behind that of one that has reached its quota.
TEST(WriteQuota, LetsAClientThatWritesLittleGoOn) {
  for_each_seed(20, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(with_quota(quota_bytes_per_second, seed), stacks);
    store.add_client([](fabric::Host& host, Client& client) {
      write_much(host, client, 0, 10 * sets_per_region);
    });
    store.add_client([](fabric::Host& host, Client& client) {
      for (int round = 0; round < 6; ++round) {
        EXPECT_LT(write_much(host, client, 1, sets_per_region / 2), millisecond_ns / 4);
        host.sleep_until(host.now_ns() + 2 * millisecond_ns);
      }
    });
    run_without_problems(store);
  });
}

TEST(WriteQuota, IsOffByDefault) {
  fabric::FiberStackPool stacks;
  TestStore store(with_quota(0), stacks);
  store.add_client([](fabric::Host& host, Client& client) {
    const std::uint64_t begin_ns = host.now_ns();
    write_much(host, client, 0, 6 * sets_per_region);
    EXPECT_LT(host.now_ns() - begin_ns, 2 * millisecond_ns);
  });
  EXPECT_EQ(run_without_problems(store).inspection.statistics.regions_postponed, 0U);
}

// A client that leaves while its request is postponed takes the request along.
TEST(WriteQuota, ForgetsTheRequestsOfClientsThatLeave) {
  for_each_seed(20, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options = with_quota(quota_region_bytes / 4, seed);  // a region in four seconds
    options.server.heartbeat_timeout_ns = 10 * millisecond_ns;
    TestStore store(options, stacks);
    store.add_client([&store](fabric::Host& host, Client& client) {
      host.spawn({.name = "crash", .daemon = true}, [&store, &host] {
        host.sleep_until(host.now_ns() + 3 * millisecond_ns);
        store.simulation().crash("client 0");
      });
      write_much(host, client, 0, 2 * sets_per_region);
    });
    const StoreRun run = store.run();
    EXPECT_EQ(run.inspection.requests_waiting, 0U);
    EXPECT_EQ(run.inspection.statistics.regions_granted, 1U);
    EXPECT_EQ(run.inspection.statistics.regions_denied, 0U) << "the request was served";
  });
}

TEST(WriteQuota, MustGrantARegionWithinFiveSeconds) {
  fabric::FiberStackPool stacks;
  sim::RandomStrategy strategy(1);
  sim::Simulation simulation({}, strategy, stacks);
  simulation.add_host({.name = "server"}, [](fabric::Host& host) {
    engine::ServerOptions options = with_quota(quota_region_bytes / 5).server;
    const auto refused = Server::start(host, options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().detail,
              "client_bytes_per_second is 204 but must be 0 or at least 205 with regions of 1024 "
              "bytes, so that a client waits 5 s for one at most");
    ++options.client_bytes_per_second;
    EXPECT_TRUE(Server::start(host, options));
  });
  EXPECT_EQ(simulation.run().outcome, sim::Outcome::completed);
}

}  // namespace
}  // namespace falafel::engine_test
