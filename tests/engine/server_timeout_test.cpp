// Operations that need a server which does not respond must end in time, report the time-out, and
// change nothing.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/engine/planted.h"
#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

constexpr std::uint64_t patience_ns = 5 * millisecond_ns;

StoreOptions with_server_timeout(std::uint64_t seed) {
  StoreOptions options;
  options.seed = seed;
  options.client.server_timeout_ns = patience_ns;
  options.server.geometry = {.table_entries = 16, .region_bytes = 1'024, .region_count = 4};
  return options;
}

// Two containers fill the region, so the third needs a new region.
TEST(ServerThatGrantsNothing, LetsASetTimeOut) {
  for_each_seed(20, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options = with_server_timeout(seed);
    options.client.renewal_percent = 100;
    TestStore store(options, stacks);
    store.add_client([&](fabric::Host& host, Client& client) {
      const Bytes value(400, std::byte{1});
      const Bytes newer(400, std::byte{2});
      ASSERT_EQ(client.set(bytes_of("first"), value).answer, Answer::stored);
      ASSERT_EQ(client.set(bytes_of("second"), value).answer, Answer::stored);
      store.simulation().pause("server", 4 * patience_ns);
      for (int attempt = 0; attempt < 2; ++attempt) {
        const std::uint64_t start_ns = host.now_ns();
        EXPECT_EQ(client.set(bytes_of("first"), newer).answer, Answer::timed_out);
        EXPECT_GE(host.now_ns(), start_ns + patience_ns);
        EXPECT_LE(host.now_ns(), start_ns + patience_ns + 100 * microsecond_ns);
      }
      EXPECT_EQ(client.get(bytes_of("first")).value, value);
      EXPECT_TRUE(client.is_connected());
      host.sleep_until(host.now_ns() + 3 * patience_ns);
      EXPECT_EQ(client.set(bytes_of("first"), newer).answer, Answer::stored);
      EXPECT_EQ(client.get(bytes_of("first")).value, newer);
      EXPECT_EQ(store.server()->inspect().statistics.clients_expelled, 0U);
    });
    run_without_problems(store);
  });
}

// The renewal was requested in time, but there is no answer.
TEST(ServerThatGrantsNothing, LetsSetsOfAllFibersTimeOut) {
  fabric::FiberStackPool stacks;
  TestStore store(with_server_timeout(1), stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    ASSERT_EQ(client.set(bytes_of("key"), {}).answer, Answer::stored);
    store.simulation().pause("server", 4 * patience_ns);
    const std::uint64_t start_ns = host.now_ns();
    std::vector<fabric::FiberId> fibers;
    int timed_out = 0;
    for (int fiber = 0; fiber < 8; ++fiber) {
      fibers.push_back(host.spawn({.name = "setter"}, [&] {
        Answer answer = Answer::stored;
        while (answer == Answer::stored) {
          answer = client.set(bytes_of("key"), Bytes(200, std::byte{1})).answer;
        }
        EXPECT_EQ(answer, Answer::timed_out) << to_string(answer);
        ++timed_out;
      }));
    }
    for (const fabric::FiberId fiber : fibers) host.join(fiber);
    EXPECT_EQ(timed_out, 8);
    EXPECT_LE(host.now_ns(), start_ns + 2 * patience_ns);
  });
  run_without_problems(store);
}

// A lock that nobody removes, as if the server had stopped during a cleanup.
TEST(EntryThatStaysLocked, LetsOperationsTimeOut) {
  for_each_seed(20, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(with_server_timeout(seed), stacks);
    store.add_client([&](fabric::Host& host, Client& client) {
      const Bytes key = bytes_of("key");
      const Bytes value = bytes_of("value");
      ASSERT_EQ(client.set(key, value).answer, Answer::stored);
      store.simulation().pause("server", 10 * patience_ns);
      const std::optional<Planted> planted = find_planted(*store.server(), key);
      ASSERT_TRUE(planted.has_value());
      store_entry(*store.server(), planted->slot, planted->entry.with_locked());
      const auto expect_in_time = [&](const auto& operation) {
        const std::uint64_t start_ns = host.now_ns();
        EXPECT_EQ(operation().answer, Answer::timed_out);
        EXPECT_GE(host.now_ns(), start_ns + patience_ns);
        EXPECT_LE(host.now_ns(), start_ns + patience_ns + 2 * millisecond_ns);
      };
      expect_in_time([&] { return client.get(key); });
      expect_in_time([&] { return client.set(key, bytes_of("new")); });
      expect_in_time([&] { return client.remove(key); });
      store_entry(*store.server(), planted->slot, planted->entry.with_next_tag(30));
      EXPECT_EQ(client.get(key).value, value);
      EXPECT_EQ(client.set(key, bytes_of("new")).answer, Answer::stored);
      EXPECT_EQ(client.remove(key).answer, Answer::deleted);
    });
    run_without_problems(store);
  });
}

TEST(EntryThatStaysLocked, LetsAScanTimeOut) {
  for_each_seed(5, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(with_server_timeout(seed), stacks);
    store.add_client([&](fabric::Host& host, Client& client) {
      const Bytes key = bytes_of("key");
      ASSERT_EQ(client.set(key, bytes_of("value")).answer, Answer::stored);
      store.simulation().pause("server", 4 * patience_ns);
      const std::optional<Planted> planted = find_planted(*store.server(), key);
      ASSERT_TRUE(planted.has_value());
      store_entry(*store.server(), planted->slot, planted->entry.with_locked());
      const std::uint64_t start_ns = host.now_ns();
      const auto scanned = client.for_each_key([](const engine::KeyAndValue&) {});
      ASSERT_FALSE(scanned.has_value());
      EXPECT_EQ(scanned.error(), Answer::timed_out);
      EXPECT_LE(host.now_ns(), start_ns + patience_ns + 2 * millisecond_ns);
      store_entry(*store.server(), planted->slot, planted->entry.with_next_tag(30));
      EXPECT_TRUE(client.for_each_key([](const engine::KeyAndValue&) {}).has_value());
    });
    run_without_problems(store);
  });
}

}  // namespace
}  // namespace falafel::engine_test
