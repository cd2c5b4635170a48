// A table that grows while clients use it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/layout/key_hash.h"
#include "engine/probes.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

namespace probes = engine::probes;

Bytes growing_key(std::uint64_t number) { return bytes_of(fmt::format("key {}", number)); }

Bytes growing_value(std::uint64_t number) { return bytes_of(fmt::format("value {}", number)); }

// A table of 4 entries that grows to `most_tables` tables.
StoreOptions options_of_growth(std::uint32_t most_tables) {
  StoreOptions options;
  options.simulation.step_limit = 60'000'000;
  options.simulation.granularity = sim::Granularity::packet;
  options.server.heartbeat_timeout_ns = 10 * second_ns;
  options.server.cleanup_interval_ns = 200 * microsecond_ns;
  options.server.geometry = {.table_entries = 4,
                             .region_bytes = 1'024,
                             .region_count = 16,
                             .mature_bytes = 128'000,
                             .most_tables = most_tables};
  return options;
}

StoreRun run_growth(TestStore& store) {
  StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
  return run;
}

TEST(TableGrowth, StoresMoreKeysThanTheFirstTableHasEntries) {
  constexpr std::uint64_t keys = 120;
  fabric::FiberStackPool stacks;
  TestStore store(options_of_growth(8), stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    for (std::uint64_t key = 0; key < keys; ++key) {
      ASSERT_EQ(client.set(growing_key(key), growing_value(key)).answer, Answer::stored) << key;
      ASSERT_EQ(client.get(growing_key(key / 2)).value, growing_value(key / 2)) << key;
    }
    for (std::uint64_t key = 0; key < keys; ++key) {
      EXPECT_EQ(client.get(growing_key(key)).value, growing_value(key)) << key;
    }
  });
  const StoreRun run = run_growth(store);
  EXPECT_EQ(run.state.contents.size(), keys);
  EXPECT_EQ(run.inspection.tables.first, run.inspection.tables.last);
  EXPECT_EQ(run.inspection.tables.last, 6U);
  EXPECT_EQ(run.inspection.statistics.tables_begun, 6U);
  EXPECT_GT(run.inspection.statistics.entries_moved, 90U);
}

TEST(TableGrowth, AnswersThatTheTableIsFullAtItsLimitOnly) {
  fabric::FiberStackPool stacks;
  TestStore store(options_of_growth(3), stacks);
  std::uint64_t stored = 0;
  store.add_client([&](fabric::Host& host, Client& client) {
    const auto is_stored = [&](std::uint64_t key) {
      return client.set(growing_key(key), growing_value(key)).answer == Answer::stored;
    };
    while (is_stored(stored)) ++stored;
    EXPECT_EQ(client.set(growing_key(stored), {}).answer, Answer::table_full);
    host.sleep_until(host.now_ns() + millisecond_ns);
    while (is_stored(stored)) ++stored;
    for (std::uint64_t key = 0; key < stored; ++key) {
      EXPECT_EQ(client.get(growing_key(key)).value, growing_value(key)) << key;
      EXPECT_EQ(client.set(growing_key(key), growing_value(key)).answer, Answer::stored) << key;
    }
    EXPECT_EQ(client.remove(growing_key(0)).answer, Answer::deleted);
    EXPECT_TRUE(is_stored(stored));
  });
  const StoreRun run = run_growth(store);
  EXPECT_GE(stored, 16U);
  EXPECT_LE(stored, 16U + 8U + 4U);
  EXPECT_EQ(run.state.contents.size(), stored);
}

// A key with this home slot in a table of 16 entries.
Bytes key_at(std::uint64_t home) {
  std::uint64_t number = 0;
  while (engine::home_slot(growing_key(number), engine::HashKey{}, 16) != home) ++number;
  return growing_key(number);
}

// A client that does not know of the next table passes one frozen slot in the former one. It is as
// if the table were still growing.
TEST(TableGrowth, CostsOneRoundTripMoreAndOnlyOnceAfterwards) {
  fabric::FiberStackPool stacks;
  StoreOptions options = options_of_growth(2);
  options.server.geometry.table_entries = 16;
  options.server.geometry.fingerprint_bits = 8;
  options.server.geometry.size_class_bits = 3;
  TestStore store(options, stacks);
  bool is_filled = false;
  bool has_grown = false;
  int connected = 0;
  const auto wait = [](fabric::Host& host) { host.sleep_until(host.now_ns() + microsecond_ns); };
  const auto add_watcher = [&](const ClientBody& body) {
    store.add_client([&, body](fabric::Host& host, Client& client) {
      ASSERT_EQ(client.set(key_at(15), {}).answer, Answer::stored);  // it has a region now
      ++connected;
      while (!has_grown) wait(host);
      body(host, client);
    });
  };
  // Slots 1, 4, 7 and 10 remain empty.
  add_watcher([](fabric::Host&, Client& client) {
    EXPECT_EQ(client.get(key_at(0)).statistics.round_trips, 3U);
    EXPECT_EQ(client.get(key_at(0)).statistics.round_trips, 2U);
  });
  add_watcher([](fabric::Host&, Client& client) {
    EXPECT_EQ(client.set(key_at(3), {}).statistics.round_trips, 4U);
    EXPECT_EQ(client.set(key_at(3), {}).statistics.round_trips, 3U);
  });
  add_watcher([](fabric::Host&, Client& client) {
    EXPECT_EQ(client.remove(key_at(6)).statistics.round_trips, 4U);
    EXPECT_EQ(client.remove(key_at(9)).statistics.round_trips, 3U);
  });
  store.add_client([&](fabric::Host& host, Client& client) {
    while (connected < 3) wait(host);
    for (const std::uint64_t home : {0U, 3U, 6U, 9U, 2U, 5U, 8U, 11U, 12U, 13U, 14U}) {
      ASSERT_EQ(client.set(key_at(home), {}).answer, Answer::stored);
    }
    is_filled = true;
  });
  // Its request for a region finds three quarters of the table filled.
  store.add_client([&](fabric::Host& host, Client& client) {
    while (!is_filled) wait(host);
    ASSERT_EQ(client.set(key_at(15), {}).answer, Answer::stored);
    const auto tables = [&] { return store.server()->inspect().tables; };
    while (tables().last == 0 || tables().are_growing()) wait(host);
    has_grown = true;
  });
  run_growth(store);
}

// Several clients insert, overwrite and delete keys of their own while the table grows.
TEST(TableGrowth, IsNotNoticedByClients) {
  constexpr std::uint64_t clients = 4;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    fabric::FiberStackPool stacks;
    StoreOptions options = options_of_growth(7);
    options.seed = seed;
    options.client.location_cache.entries = seed % 2 == 0 ? 16 : 0;
    options.server.geometry.fingerprint_bits = seed % 3 == 0 ? 4 : 0;
    options.client.readahead.chunk_entries = seed % 4 == 0 ? 1 : 8;
    TestStore store(options, stacks);
    std::vector<std::map<std::uint64_t, Bytes>> models(clients);
    for (std::uint64_t number = 0; number < clients; ++number) {
      store.add_client([&models, number, seed](fabric::Host&, Client& client) {
        std::map<std::uint64_t, Bytes>& model = models[number];
        std::minstd_rand random(static_cast<unsigned>(seed * clients + number));
        for (std::uint64_t step = 0; step < 100; ++step) {
          const std::uint64_t key = number + clients * (random() % 30);
          const auto known = model.find(key);
          switch (random() % 5) {
            case 0:
              EXPECT_EQ(client.remove(growing_key(key)).answer,
                        known == model.end() ? Answer::not_found : Answer::deleted);
              model.erase(key);
              break;
            case 1:
            case 2: {
              const auto result = client.get(growing_key(key));
              ASSERT_EQ(result.answer, known == model.end() ? Answer::not_found : Answer::found);
              if (known != model.end()) {
                EXPECT_EQ(result.value, known->second);
              }
              break;
            }
            default:
              ASSERT_EQ(client.set(growing_key(key), growing_value(step)).answer, Answer::stored);
              model[key] = growing_value(step);
          }
        }
      });
    }
    const StoreRun run = run_growth(store);
    std::size_t keys = 0;
    for (const auto& model : models) keys += model.size();
    EXPECT_EQ(run.state.contents.size(), keys) << "seed " << seed;
    EXPECT_GT(run.probe(probes::entry_moved_to_table), 0U) << "seed " << seed;
    EXPECT_GT(run.probe(probes::insertion_in_later_table), 0U) << "seed " << seed;
  }
}

TEST(TableGrowth, IsPassedByAScanOfAllKeys) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    fabric::FiberStackPool stacks;
    StoreOptions options = options_of_growth(7);
    options.seed = seed;
    TestStore store(options, stacks);
    constexpr std::uint64_t known_keys = 3;
    bool is_prepared = false;
    store.add_client([&](fabric::Host&, Client& client) {
      for (std::uint64_t key = 0; key < known_keys; ++key) client.set(growing_key(key), {});
      is_prepared = true;
      for (std::uint64_t key = known_keys; key < 70; ++key) {
        EXPECT_EQ(client.set(growing_key(key), {}).answer, Answer::stored);
      }
    });
    store.add_client([&](fabric::Host& host, Client& client) {
      while (!is_prepared) host.sleep_until(host.now_ns() + microsecond_ns);
      for (int scan = 0; scan < 10; ++scan) {
        std::set<Bytes> seen;
        const auto over = client.for_each_key([&](const engine::KeyAndValue& pair) {
          seen.emplace(pair.key.begin(), pair.key.end());
        });
        ASSERT_TRUE(over.has_value());
        for (std::uint64_t key = 0; key < known_keys; ++key) {
          EXPECT_TRUE(seen.contains(growing_key(key))) << "seed " << seed << ", key " << key;
        }
      }
    });
    run_growth(store);
  }
}

}  // namespace
}  // namespace falafel::engine_test
