// Walks over the table that take longer than the server waits for a heartbeat. The client gives up
// in time, so that it need not be given up.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/engine/planted.h"
#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

constexpr std::uint64_t heartbeat_timeout_ns = 200 * microsecond_ns;
constexpr std::uint64_t table_entries = 512;

// All entries but the last one before slot 0 are taken.
StoreOptions store_with_a_long_chain(std::uint64_t seed) {
  StoreOptions options;
  options.seed = seed;
  options.server.geometry = {
      .table_entries = table_entries, .region_bytes = 32'768, .region_count = 4};
  options.server.heartbeat_timeout_ns = heartbeat_timeout_ns;
  options.client.readahead = {.chunk_entries = 64, .container_bytes = 128};
  return options;
}

Bytes of_slot(std::uint64_t slot) { return key_at(slot, 0, table_entries); }

void fill(Client& client) {
  for (std::uint64_t slot = 0; slot + 1 < table_entries; ++slot) {
    ASSERT_EQ(client.set(of_slot(slot), bytes_of("value")).answer, Answer::stored);
  }
}

// Runs `body` with a client that reads one entry after the other.
void run_with_slow_walks(const std::function<void(fabric::Host&, Client&)>& body) {
  for_each_seed(5, [&](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    const StoreOptions options = store_with_a_long_chain(seed);
    TestStore store(options, stacks);
    store.add_client([&](fabric::Host& host, Client& filler) {
      fill(filler);
      engine::ClientOptions slow = options.client;
      slow.readahead.chunk_entries = 1;
      slow.readahead.containers = 1;
      const auto client = Client::connect(host, store.address(), slow);
      ASSERT_TRUE(client.has_value()) << client.error().detail;
      body(host, **client);
      EXPECT_TRUE((*client)->is_connected());
      EXPECT_EQ((*client)->get(of_slot(7)).value, bytes_of("value"));
      EXPECT_EQ(store.server()->inspect().statistics.clients_fenced, 0U);
    });
    run_without_problems(store);
  });
}

TEST(LongWalk, AnswersTimedOutAndKeepsItsConnection) {
  run_with_slow_walks([](fabric::Host& host, Client& client) {
    const Bytes absent = key_at(0, 1, table_entries);
    const auto expect_in_time = [&](const auto& operate) {
      const std::uint64_t start_ns = host.now_ns();
      EXPECT_EQ(operate().answer, Answer::timed_out) << host.now_ns() - start_ns;
      EXPECT_LE(host.now_ns() - start_ns, heartbeat_timeout_ns);
    };
    for (int round = 0; round < 4; ++round) {
      expect_in_time([&] { return client.get(absent); });
      expect_in_time([&] { return client.set(absent, bytes_of("new")); });
      expect_in_time([&] { return client.remove(absent); });
    }
  });
}

// Each of them is younger than the one before, so that one of them is always old.
TEST(LongWalk, ManyAtATimeKeepTheirConnection) {
  run_with_slow_walks([](fabric::Host& host, Client& client) {
    std::vector<fabric::FiberId> fibers;
    for (int fiber = 0; fiber < 8; ++fiber) {
      fibers.push_back(host.spawn({.name = "walker"}, [&] {
        host.sleep_until(host.now_ns() + host.random(heartbeat_timeout_ns));
        for (int round = 0; round < 4; ++round) {
          EXPECT_EQ(client.get(key_at(0, 1, table_entries)).answer, Answer::timed_out);
        }
      }));
    }
    for (const fabric::FiberId fiber : fibers) host.join(fiber);
  });
}

// The SET is denied new memory, and looks whether it overwrites, for which there is a reserve. It
// has not found that the key needs new memory.
TEST(LongWalk, OfASetInAFullStoreIsNotALackOfMemory) {
  for_each_seed(5, [&](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options = store_with_a_long_chain(seed);
    options.server.geometry.region_bytes = 4'096;
    options.server.geometry.mature_bytes = 16 * options.server.geometry.region_bytes;
    options.client.readahead = {
        .chunk_entries = 512, .container_bytes = 256, .containers = 8, .adaptive = false};
    TestStore store(options, stacks);
    store.add_client([&](fabric::Host& host, Client& filler) {
      constexpr std::uint64_t slots_before_it = 220;
      const Bytes last = key_at(0, 1, table_entries);
      const Bytes value(100);
      Answer answer = Answer::stored;
      for (std::uint64_t slot = 0; answer == Answer::stored; ++slot) {
        if (slot == slots_before_it) {
          ASSERT_EQ(filler.set(last, value).answer, Answer::stored);
        } else {
          answer = filler.set(of_slot(slot), value).answer;
        }
      }
      ASSERT_EQ(answer, Answer::out_of_memory);
      ASSERT_EQ(filler.get(last).answer, Answer::found);
      engine::ClientOptions slow = options.client;
      slow.readahead.chunk_entries = 1;
      slow.readahead.containers = 1;
      const auto client = Client::connect(host, store.address(), slow);
      ASSERT_TRUE(client.has_value()) << client.error().detail;
      for (int round = 0; round < 4; ++round) {
        EXPECT_EQ((*client)->set(last, value).answer, Answer::timed_out);
      }
    });
    run_without_problems(store);
  });
}

// The chunk of a scan is an operation, too.
TEST(LongWalk, OfAScanAnswersTimedOut) {
  for_each_seed(5, [&](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options = store_with_a_long_chain(seed);
    TestStore store(options, stacks);
    store.add_client([&](fabric::Host& host, Client& filler) {
      fill(filler);
      engine::ClientOptions slow = options.client;
      slow.readahead.chunk_entries = table_entries;
      slow.readahead.containers = 1;
      const auto client = Client::connect(host, store.address(), slow);
      ASSERT_TRUE(client.has_value()) << client.error().detail;
      const auto scanned = (*client)->for_each_key([](const engine::KeyAndValue&) {});
      ASSERT_FALSE(scanned.has_value());
      EXPECT_EQ(scanned.error(), Answer::timed_out) << to_string(scanned.error());
      EXPECT_TRUE((*client)->is_connected());
      std::uint64_t keys = 0;
      EXPECT_TRUE(filler.for_each_key([&](const engine::KeyAndValue&) { ++keys; }).has_value());
      EXPECT_EQ(keys, table_entries - 1);
    });
    run_without_problems(store);
  });
}

}  // namespace
}  // namespace falafel::engine_test
