// The server process is stopped for longer than all time-outs. One-sided operations continue,
// nobody waits forever, and the resumed server gives up on no client because of the stop.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "engine/probes.h"
#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

constexpr std::uint64_t give_up_ns = 10 * millisecond_ns;
constexpr std::uint64_t stop_ns = 20 * give_up_ns;

StoreOptions stoppable(std::uint64_t seed) {
  StoreOptions options;
  options.seed = seed;
  options.server.heartbeat_timeout_ns = give_up_ns;
  return options;
}

TEST(StoppedServer, DoesNotStopGets) {
  for_each_seed(20, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(stoppable(seed), stacks);
    for (int number = 0; number < 2; ++number) {
      store.add_client([&, number](fabric::Host& host, Client& client) {
        const Bytes key = bytes_of(fmt::format("key {}", number));
        ASSERT_EQ(client.set(key, key).answer, Answer::stored);
        const std::uint64_t start_ns = millisecond_ns;
        host.sleep_until(start_ns);
        store.simulation().pause("server", stop_ns);
        std::uint64_t longest_ns = 0;
        while (host.now_ns() < start_ns + stop_ns - millisecond_ns) {
          const std::uint64_t get_ns = host.now_ns();
          ASSERT_EQ(client.get(key).answer, Answer::found);
          longest_ns = std::max(longest_ns, host.now_ns() - get_ns);
          host.sleep_until(host.now_ns() + millisecond_ns);
        }
        EXPECT_LE(longest_ns, millisecond_ns);
        host.sleep_until(start_ns + stop_ns + 3 * give_up_ns);
        EXPECT_EQ(client.set(key, bytes_of("afterwards")).answer, Answer::stored);
        EXPECT_EQ(store.server()->inspect().statistics.clients_fenced, 0U);
        host.sleep_until(host.now_ns() + give_up_ns);
      });
    }
    run_without_problems(store);
  });
}

TEST(StoppedServer, DoesNotDelayDisconnecting) {
  for_each_seed(20, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(stoppable(seed), stacks);
    store.add_client([&](fabric::Host& host, Client& client) {
      ASSERT_EQ(client.set(bytes_of("key"), {}).answer, Answer::stored);
      store.simulation().pause("server", stop_ns);
      host.sleep_until(host.now_ns() + stop_ns / 2);  // its heartbeats have used up their credits
      const std::uint64_t start_ns = host.now_ns();
      client.disconnect();
      EXPECT_LE(host.now_ns(), start_ns + millisecond_ns);
    });
    const StoreRun run = run_without_problems(store);
    EXPECT_EQ(run.inspection.statistics.clients_fenced, 1U);
  });
}

// The client may not send messages any more and must still detect the crash.
TEST(ServerThatDiesWhileItIsStopped, IsNoticedByAnIdleClient) {
  fabric::FiberStackPool stacks;
  StoreOptions options = stoppable(1);
  options.client.acknowledge_timeout_ns = millisecond_ns;
  options.client.retry_count = 1;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    const std::uint64_t start_ns = host.now_ns();
    store.simulation().pause("server", stop_ns);
    host.sleep_until(start_ns + 3 * give_up_ns);
    EXPECT_TRUE(client.is_connected());
    store.simulation().crash("server");
    host.sleep_until(start_ns + 7 * give_up_ns);
    EXPECT_FALSE(client.is_connected());
  });
  run_without_problems(store);
}

// The whole machine was stopped, so no client was silent.
TEST(ServerThatStoodStillWithItsClients, GivesNobodyUp) {
  for_each_seed(20, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(stoppable(seed), stacks);
    store.add_client([&](fabric::Host& host, Client& client) {
      ASSERT_EQ(client.set(bytes_of("key"), {}).answer, Answer::stored);
      host.sleep_until(host.now_ns() + 2 * give_up_ns);
      store.simulation().pause("server", stop_ns);
      store.simulation().pause("client 0", stop_ns + 100 * microsecond_ns);
      host.sleep_until(host.now_ns() + microsecond_ns);
      EXPECT_EQ(client.set(bytes_of("key"), {}).answer, Answer::stored);
      EXPECT_EQ(store.server()->inspect().statistics.clients_fenced, 0U);
    });
    const StoreRun run = run_without_problems(store);
    EXPECT_GT(run.probe(engine::probes::server_was_late), 0U);
  });
}

// Clients get exactly one additional time-out.
TEST(ServerThatStoodStill, GivesUpWhoIsSilentAfterwards) {
  for_each_seed(20, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(stoppable(seed), stacks);
    store.add_host("victim", [&](fabric::Host& host) {
      const auto client = store.connect(host);
      ASSERT_TRUE(client) << client.error().detail;
      store.simulation().pause("server", stop_ns);
      store.simulation().crash("victim");
      host.yield();
    });
    store.add_client([&](fabric::Host& host, Client&) {
      host.sleep_until(host.now_ns() + stop_ns + 2 * give_up_ns + millisecond_ns);
      EXPECT_EQ(store.server()->inspect().statistics.clients_fenced, 1U);
      EXPECT_EQ(store.server()->inspect().statistics.clients_connected, 1U);
    });
    run_without_problems(store);
  });
}

// A client and the server stall during a SET, and the server does not give up on the client. The
// SET then succeeds before somebody else learns that operations have ended, or never.
TEST(ServerThatStoodStillWithItsClients, ProvesThatOperationsHaveEnded) {
  for_each_seed(60, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(stoppable(seed), stacks);
    const Bytes key = bytes_of("key");
    Answer stored = Answer::disconnected;
    bool is_found = false;
    store.add_client([&](fabric::Host& host, Client& client) {
      client.set(bytes_of("other"), {});  // it then has a region
      host.sleep_until(millisecond_ns);
      stored = client.set(key, key).answer;
    });
    store.add_client([&](fabric::Host& host, Client& client) {
      host.sleep_until(millisecond_ns + host.random(microsecond_ns));  // a SET takes no longer
      store.simulation().pause("server", stop_ns);
      store.simulation().pause("client 0", stop_ns + host.random(2 * give_up_ns));
      EXPECT_TRUE(client.wait_for_end_of_operations(2 * stop_ns));
      is_found = client.get(key).answer == Answer::found;
    });
    run_without_problems(store);
    EXPECT_FALSE(stored == Answer::stored && !is_found);
  });
}

}  // namespace
}  // namespace falafel::engine_test
