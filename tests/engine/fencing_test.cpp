// Fencing of several clients at once, and of one whose flush does not complete, with the effects on
// others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::RegionState;
using engine::ServerInspection;

constexpr std::uint64_t silence_ns = 10 * millisecond_ns;
constexpr std::uint64_t flush_timeout_ns = 5 * millisecond_ns;
constexpr std::uint64_t landing_ns = 200 * millisecond_ns;

StoreOptions with_flush_timeout(std::uint64_t seed) {
  StoreOptions options;
  options.seed = seed;
  options.server.heartbeat_timeout_ns = silence_ns;
  options.server.flush_timeout_ns = flush_timeout_ns;
  options.server.geometry = {.table_entries = 16, .region_bytes = 1'024, .region_count = 6};
  return options;
}

std::uint64_t count_granted(const TestStore& store) {
  return static_cast<std::uint64_t>(std::ranges::count(
      store.server()->inspect().regions, RegionState::granted, &engine::RegionInspection::state));
}

std::uint64_t count_quarantined(const TestStore& store) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      store.server()->inspect().clients,
      [](const engine::ClientInspection& client) { return client.quarantined; }));
}

// Adds a client that obtains a region and crashes.
void add_victim(TestStore& store, const std::string& name, std::uint64_t landing, int& ready) {
  store.add_host(name, [&store, name, landing, &ready](fabric::Host& host) {
    const auto client = store.connect(host);
    ASSERT_TRUE(client) << client.error().detail;
    EXPECT_EQ((*client)->set(bytes_of(name), bytes_of(name)).answer, Answer::stored);
    ++ready;
    while (ready < 3) host.sleep_until(host.now_ns() + microsecond_ns);
    if (landing > 0) store.simulation().hold_landing(name, landing);
    store.simulation().crash(name);
    host.yield();
  });
}

std::uint64_t overwrite_and_time(fabric::Host& host, Client& client, std::uint64_t until_ns) {
  std::uint64_t longest_ns = 0;
  while (host.now_ns() < until_ns) {
    const std::uint64_t start_ns = host.now_ns();
    EXPECT_EQ(client.set(bytes_of("key"), Bytes(400, std::byte{1})).answer, Answer::stored);
    longest_ns = std::max(longest_ns, host.now_ns() - start_ns);
    host.sleep_until(host.now_ns() + 100 * microsecond_ns);
  }
  return longest_ns;
}

// The other crashed client is fenced in the meantime, and a third client's SETs wait only for that.
TEST(ClientThatIsNotFlushed, KeepsItsRegionsAndNothingElse) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    TestStore store(with_flush_timeout(seed), stacks);
    int ready = 0;
    add_victim(store, "lasting", landing_ns, ready);
    add_victim(store, "quick", 0, ready);
    store.add_client([&](fabric::Host& host, Client& client) {
      EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::stored);
      ++ready;
      const std::uint64_t start_ns = host.now_ns();
      const std::uint64_t settled_ns =
          start_ns + silence_ns + flush_timeout_ns + 2 * millisecond_ns;
      EXPECT_LE(overwrite_and_time(host, client, settled_ns), silence_ns + 2 * millisecond_ns);
      EXPECT_EQ(store.server()->inspect().statistics.clients_fenced, 2U);
      EXPECT_EQ(store.server()->inspect().statistics.clients_connected, 2U);
      EXPECT_EQ(store.server()->inspect().statistics.flushes_overdue, 1U);
      EXPECT_EQ(count_quarantined(store), 1U);
      EXPECT_LE(count_granted(store), 3U) << "its one, and those of the client that goes on";
      overwrite_and_time(host, client, start_ns + landing_ns + millisecond_ns);
      EXPECT_EQ(store.server()->inspect().statistics.clients_connected, 1U);
      EXPECT_EQ(count_quarantined(store), 0U);
      EXPECT_EQ(client.get(bytes_of("lasting")).value, bytes_of("lasting"));
    });
    const StoreRun run = store.run();
    EXPECT_TRUE(run.problems.empty()) << describe(run);
  }
}

TEST(ClientThatIsNotFlushed, LeavesQuarantineWhenItsProcessEnds) {
  fabric::FiberStackPool stacks;
  TestStore store(with_flush_timeout(1), stacks);
  int ready = 1;
  add_victim(store, "lasting", fabric::never_ns, ready);
  store.add_client([&](fabric::Host& host, Client&) {
    ++ready;
    host.sleep_until(host.now_ns() + silence_ns + flush_timeout_ns + second_ns);
    EXPECT_EQ(count_quarantined(store), 1U);
    EXPECT_EQ(count_granted(store), 1U);
    store.simulation().hold_landing("lasting", 0);
    host.sleep_until(host.now_ns() + millisecond_ns);
    EXPECT_EQ(count_quarantined(store), 0U);
    EXPECT_EQ(count_granted(store), 0U);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

// The return time of all regions but the last is unknown, so the server denies further requests
// immediately.
TEST(ClientThatIsNotFlushed, LetsRequestsBeDeniedRatherThanWait) {
  fabric::FiberStackPool stacks;
  StoreOptions options = with_flush_timeout(1);
  options.server.geometry = {.table_entries = 16, .region_bytes = 1'024, .region_count = 1};
  TestStore store(options, stacks);
  int ready = 1;
  add_victim(store, "lasting", landing_ns, ready);
  store.add_client([&](fabric::Host& host, Client& client) {
    while (ready < 2) host.sleep_until(host.now_ns() + microsecond_ns);
    ++ready;
    host.sleep_until(host.now_ns() + silence_ns + flush_timeout_ns + millisecond_ns);
    EXPECT_EQ(count_quarantined(store), 1U);
    const std::uint64_t start_ns = host.now_ns();
    EXPECT_EQ(client.set(bytes_of("key"), {}).answer, Answer::out_of_memory);
    EXPECT_LE(host.now_ns(), start_ns + millisecond_ns);
    host.sleep_until(host.now_ns() + landing_ns);
    EXPECT_EQ(client.set(bytes_of("key"), {}).answer, Answer::stored);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

TEST(ClientThatIsNotFlushed, IsDestroyedWhereThatDrainsIt) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    StoreOptions options = with_flush_timeout(seed);
    options.server_destruction_drains = true;
    TestStore store(options, stacks);
    int ready = 1;
    add_victim(store, "lasting", landing_ns, ready);
    store.add_client([&](fabric::Host& host, Client& client) {
      EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::stored);
      ++ready;
      host.sleep_until(host.now_ns() + silence_ns + flush_timeout_ns + 2 * millisecond_ns);
      EXPECT_EQ(store.server()->inspect().statistics.clients_connected, 1U);
      EXPECT_EQ(store.server()->inspect().statistics.flushes_overdue, 1U);
      EXPECT_EQ(count_granted(store), 1U);
      EXPECT_EQ(client.get(bytes_of("lasting")).value, bytes_of("lasting"));
    });
    const StoreRun run = store.run();
    EXPECT_TRUE(run.problems.empty()) << describe(run);
  }
}

}  // namespace
}  // namespace falafel::engine_test
