// The scan of all keys: what it visits in a store that nobody changes, beside clients and a cleanup
// that move entries, in a cache, in a damaged store, and when the connection breaks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/client/client.h"
#include "engine/client/damaged_container.h"
#include "engine/layout/container.h"
#include "engine/layout/entry.h"
#include "engine/layout/status_line.h"
#include "engine/probes.h"
#include "tests/engine/planted.h"
#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

namespace probes = engine::probes;

using Contents = std::map<Bytes, Bytes>;

struct Scan {
  Contents contents;  // with the value of the last visit
  std::uint64_t visits = 0;
  std::vector<engine::DamagedContainer> damaged;
  tl::expected<void, Answer> result;
};

Scan scan(Client& client) {
  Scan scan;
  scan.result = client.for_each_key(
      [&](const engine::KeyAndValue& pair) {
        ++scan.visits;
        EXPECT_EQ(pair.time_to_live_ns, 0U);
        scan.contents[Bytes(pair.key.begin(), pair.key.end())] =
            Bytes(pair.value.begin(), pair.value.end());
      },
      [&](const engine::DamagedContainer& damaged) { scan.damaged.push_back(damaged); });
  return scan;
}

Bytes numbered_key(std::uint64_t number) { return bytes_of(fmt::format("key {}", number)); }

// A store that nobody changes

Bytes long_value(std::uint64_t random) { return Bytes(random % 1'500, std::byte(random)); }

// Sets, overwrites and deletes keys so that regions and mature spaces are collected.
Contents change_at_random(Client& client, std::uint64_t seed) {
  std::minstd_rand random(static_cast<std::uint32_t>(seed));
  Contents expected;
  for (int count = 0; count < 300; ++count) {
    const Bytes key = numbered_key(random() % 40);
    if (random() % 3 == 0) {
      client.remove(key);
      expected.erase(key);
    } else {
      const Bytes value = long_value(random());
      EXPECT_EQ(client.set(key, value).answer, Answer::stored);
      expected[key] = value;
    }
  }
  return expected;
}

void scan_random_store(StoreOptions options, std::uint64_t seed, fabric::FiberStackPool& stacks) {
  options.seed = seed;
  options.simulation.step_limit = 10'000'000;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    const Contents expected = change_at_random(client, seed);
    const auto& statistics = store.server()->inspect().statistics;
    EXPECT_GT(statistics.regions_collected, 0U);
    EXPECT_GT(statistics.mature_collections, 0U);
    const Scan found = scan(client);
    EXPECT_TRUE(found.result);
    EXPECT_EQ(found.contents, expected);
    EXPECT_EQ(found.visits, expected.size());
  });
  run_without_problems(store);
}

StoreOptions small_memory() {
  StoreOptions options;
  options.server.geometry = {
      .table_entries = 67, .region_bytes = 4'096, .region_count = 4, .mature_bytes = 65'536};
  options.server.cleanup_percent = 100;  // deleted entries stay
  return options;
}

TEST(KeyScan, VisitsEachKeyOfAStoreWithSemiSpacesOnce) {
  for_each_seed(10, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options = small_memory();
    const std::uint32_t number = static_cast<std::uint32_t>(seed);
    options.client.readahead = {.chunk_entries = number * number,
                                .container_bytes = 24 * number,
                                .containers = 1 + number % 8};
    scan_random_store(options, seed, stacks);
  });
}

TEST(KeyScan, VisitsEachKeyOfAStoreWithBlocksAndFingerprintsOnce) {
  for_each_seed(10, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options = small_memory();
    options.server.geometry.mature_bytes = 4'096;
    options.server.geometry.mature_space_count = 20;
    options.server.geometry.fingerprint_bits = 4;
    options.server.geometry.size_class_bits = 3;
    scan_random_store(options, seed, stacks);
  });
}

TEST(KeyScan, VisitsTheKeysOfATableOfAnySizeWithAnyNumberOfEmptyEntries) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t entries = 1; entries <= 9; ++entries) {
    for (std::uint64_t keys = 0; keys <= entries; ++keys) {
      SCOPED_TRACE(fmt::format("{} keys in {} entries", keys, entries));
      StoreOptions options;
      options.server.geometry.table_entries = entries;
      options.client.readahead.chunk_entries = 4;
      TestStore store(options, stacks);
      store.add_client([&](fabric::Host&, Client& client) {
        Contents expected;
        while (expected.size() < keys) {
          const Bytes key = numbered_key(expected.size());
          client.set(key, key);
          expected[key] = key;
        }
        const Scan found = scan(client);
        EXPECT_TRUE(found.result);
        EXPECT_EQ(found.contents, expected);
        if (keys < entries) {
          EXPECT_EQ(found.visits, keys);
        }
      });
      run_without_problems(store);
    }
  }
}

TEST(KeyScan, CallsAFunctionThatMayUseTheClient) {
  fabric::FiberStackPool stacks;
  StoreOptions options;
  options.client.max_operations_in_flight = 1;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    for (std::uint64_t number = 0; number < 20; ++number) client.set(numbered_key(number), {});
    const auto result = client.for_each_key([&](const engine::KeyAndValue& pair) {
      EXPECT_EQ(client.remove(pair.key).answer, Answer::deleted);
    });
    EXPECT_TRUE(result);
  });
  EXPECT_TRUE(run_without_problems(store).state.contents.empty());
}

// A damaged store

TEST(KeyScan, VisitsAllButADamagedContainer) {
  fabric::FiberStackPool stacks;
  TestStore store({}, stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    for (std::uint64_t number = 0; number < 10; ++number) {
      client.set(numbered_key(number), bytes_of("value"));
    }
    const auto place = find_planted(*store.server(), numbered_key(4));
    ASSERT_TRUE(place);
    auto& memory = store.server()->memory();
    const std::uint64_t header_end = place->container_offset + engine::container_header_bytes;
    memory.store(header_end, memory.load(header_end) ^ 1);
    const Scan found = scan(client);
    EXPECT_EQ(found.result, tl::make_unexpected(Answer::corrupted));
    EXPECT_EQ(found.visits, 9U);
    EXPECT_FALSE(found.contents.contains(numbered_key(4)));
    client.remove(numbered_key(4));
    EXPECT_TRUE(scan(client).result);
  });
  run_without_problems(store);
}

// A damage to a container of the key `numbered_key(4)`, and the report of a scan that meets it.
struct Damage {
  std::uint64_t offset = 0;  // in the container
  engine::ContainerPart part;
  bool has_key = false;
};

void expect_named_and_dropped(const Damage& damage) {
  fabric::FiberStackPool stacks;
  TestStore store({}, stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    for (std::uint64_t number = 0; number < 10; ++number) {
      client.set(numbered_key(number), bytes_of("a value"));
    }
    const auto place = find_planted(*store.server(), numbered_key(4));
    ASSERT_TRUE(place);
    auto& memory = store.server()->memory();
    const std::uint64_t offset = place->container_offset + damage.offset;
    memory.store(offset, memory.load(offset) ^ 1U << 31U);
    const Scan found = scan(client);
    ASSERT_EQ(found.damaged.size(), 1U);
    const engine::DamagedContainer& damaged = found.damaged[0];
    EXPECT_EQ(damaged.slot, place->slot);
    EXPECT_EQ(damaged.key, damage.has_key ? std::optional(numbered_key(4)) : std::nullopt);
    ASSERT_TRUE(damaged.damage);
    EXPECT_EQ(damaged.damage->part, damage.part);
    EXPECT_NE(damaged.damage->expected_checksum, damaged.damage->found_checksum);
    EXPECT_EQ(client.drop_damaged(damaged).answer, Answer::deleted);
    EXPECT_EQ(client.drop_damaged(damaged).answer, Answer::not_found);
    EXPECT_TRUE(scan(client).result);
  });
  run_without_problems(store);
}

TEST(KeyScan, NamesADamagedContainerThatCanBeDropped) {
  using engine::ContainerPart;
  constexpr std::uint64_t key_at = engine::container_header_bytes;
  for (const Damage& damage :
       {Damage{0, ContainerPart::header}, Damage{8, ContainerPart::header},
        Damage{key_at, ContainerPart::key}, Damage{key_at + 8, ContainerPart::value, true}}) {
    SCOPED_TRACE(damage.offset);
    expect_named_and_dropped(damage);
  }
}

// A hostile client revives a deleted entry without a key. The scan once visited the empty key,
// which no client can store.
TEST(KeyScan, DoesNotVisitTheStandIn) {
  fabric::FiberStackPool stacks;
  StoreOptions options;
  options.server.cleanup_interval_ns = 1'000 * millisecond_ns;  // until the audit
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    client.set(bytes_of("key"), bytes_of("value"));
    const auto place = find_planted(*store.server(), bytes_of("key"));
    ASSERT_TRUE(place);
    const std::uint64_t slot = (place->slot + 1) % options.server.geometry.table_entries;
    const std::uint32_t stand_in =
        store.server()->geometry().to_units(engine::Geometry::stand_in_offset());
    store_entry(*store.server(), slot, place->entry.pointing_to(stand_in));
    const Scan found = scan(client);
    EXPECT_TRUE(found.result);
    EXPECT_EQ(found.contents, (Contents{{bytes_of("key"), bytes_of("value")}}));
    EXPECT_TRUE(found.damaged.empty());
    store_entry(*store.server(), slot, load_entry(*store.server(), slot).with_deleted());
  });
  run_without_problems(store);
}

// Beside other clients, collections and cleanups

constexpr int rounds = 4;
constexpr int stable_keys = 4;

struct ConcurrentTotals {
  std::uint64_t scans = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t moved = 0;
  std::uint64_t wrapped = 0;
  std::uint64_t lock_restarts = 0;
  std::uint64_t change_restarts = 0;
  std::uint64_t regions_collected = 0;
};

class ConcurrentScan {
 public:
  ConcurrentScan(const StoreOptions& options, fabric::FiberStackPool& stacks)
      : table_entries_(options.server.geometry.table_entries), store_(options, stacks) {
    store_.add_client([this](fabric::Host&, Client& client) { run_scanner(client); });
    for (int number = 1; number <= 2; ++number) {
      store_.add_client([this, number](fabric::Host& host, Client& client) {
        run_changer(host, client, number);
      });
    }
  }

  void run(ConcurrentTotals& totals) {
    const StoreRun run = run_without_problems(store_);
    totals.scans += scans_;
    totals.timed_out += timed_out_;
    totals.moved += run.probe(probes::cleanup_moved_entry);
    totals.wrapped += run.probe(probes::cleanup_wrapped);
    totals.lock_restarts += run.probe(probes::restart_at_lock);
    totals.change_restarts += run.probe(probes::restart_at_changed_walk);
    totals.regions_collected += run.inspection.statistics.regions_collected;
  }

 private:
  // Stores new keys at the end of the chain of the old ones, which are then deleted, so that a
  // cleanup moves the new keys while the scan runs.
  void run_scanner(Client& client) {
    for (int round = 0; round < rounds; ++round, ++scans_) {
      for (int key = 0; key < stable_keys; ++key) {
        EXPECT_EQ(client.set(key_of(round, key), bytes_of("old")).answer, Answer::stored);
      }
      for (int key = 0; key < stable_keys && round > 0; ++key)
        client.remove(key_of(round - 1, key));
      round_ = round;
      const Scan found = scan(client);
      timed_out_ += found.result ? 0 : 1;
      for (int key = 0; key < stable_keys && found.result; ++key) {
        EXPECT_TRUE(found.contents.contains(key_of(round, key))) << "missed key " << key;
      }
      round_.reset();
    }
    is_over_ = true;
  }

  // Inserts and deletes keys of its own, and overwrites stable ones. A SET that begins in one round
  // and ends in the next may store an old key again, which does no harm.
  void run_changer(fabric::Host& host, Client& client, int number) {
    while (!is_over_) {
      const Bytes own_key = key_of(rounds + number, static_cast<int>(host.random(4)));
      client.set(own_key, bytes_of("own"));
      host.sleep_until(host.now_ns() + host.random(10 * microsecond_ns));
      client.remove(own_key);
      if (!round_) continue;
      client.set(key_of(*round_, static_cast<int>(host.random(stable_keys))), bytes_of("new"));
    }
  }

  // All keys have the same few home slots before the end of the table.
  Bytes key_of(int group, int key) const {
    return key_at(table_entries_ - 1 - static_cast<std::uint64_t>(key) % 3,
                  group * stable_keys + key, table_entries_);
  }

  std::uint64_t table_entries_;
  TestStore store_;
  std::optional<int> round_;  // that is being scanned
  bool is_over_ = false;
  std::uint64_t scans_ = 0;
  std::uint64_t timed_out_ = 0;
};

StoreOptions options_with_busy_server(std::uint64_t seed) {
  StoreOptions options;
  options.seed = seed;
  options.simulation.step_limit = 10'000'000;
  options.server.geometry = {.table_entries = 12 + seed % 12,
                             .region_bytes = 1'024,
                             .region_count = 8,
                             .mature_bytes = 8'192};
  options.server.cleanup_percent = 0;
  options.server.cleanup_interval_ns = 100 * microsecond_ns;
  // The run ends when the server has noticed that the clients are gone. Until then, it audits.
  options.server.heartbeat_timeout_ns = 100 * millisecond_ns;
  options.client.readahead.chunk_entries = 1 + static_cast<std::uint32_t>(seed % 7);
  return options;
}

TEST(KeyScan, VisitsEveryStableKeyWhileOthersAreMoved) {
  ConcurrentTotals totals;
  for_each_seed(200, [&](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    if (testing::Test::HasFailure()) return;
    ConcurrentScan(options_with_busy_server(seed), stacks).run(totals);
  });
  EXPECT_EQ(totals.timed_out, 0U) << "of " << totals.scans << " scans";
  EXPECT_GT(totals.moved, 1'000U);
  EXPECT_GT(totals.wrapped, 100U);
  EXPECT_GT(totals.lock_restarts, 100U);
  EXPECT_GT(totals.change_restarts, 100U);
  EXPECT_GT(totals.regions_collected, 100U);
}

// A cleanup that is faster than any server's: it moves one key through a chain of deleted entries,
// all of which is one chunk, while the scan reads that chunk.

constexpr std::uint64_t raced_entries = 12;
constexpr std::uint64_t raced_chain = 8;  // the last is the key that moves; its home is slot 0

class FastCleanup {
 public:
  FastCleanup(fabric::Host& host, engine::Server& server, std::uint64_t longest_pause_ns)
      : host_(host), server_(server), longest_pause_ns_(longest_pause_ns) {}

  // Makes the removals of slots raced_chain - 2, ..., 0. Each moves the key one slot back.
  void run() {
    for (std::uint64_t hole = raced_chain - 1; hole-- > 0;) {
      set_counter();
      set(hole, load_entry(server_, hole).with_locked());
      const engine::Entry moved = load_entry(server_, hole + 1);
      set(hole + 1, moved.with_locked());
      set(hole, next(hole).pointing_to(moved.reference()));
      set(hole + 2, next(hole + 2).with_locked());  // empty
      set(hole + 1, next(hole + 1).pointing_to(0));
      set(hole + 2, next(hole + 2).without_lock());
      set_counter();
      host_.sleep_until(host_.now_ns() + host_.random(longest_pause_ns_));
    }
  }

 private:
  engine::Entry next(std::uint64_t slot) const {
    return load_entry(server_, slot).with_next_tag(engine::most_tag_bits).without_lock();
  }
  void set(std::uint64_t slot, engine::Entry entry) {
    store_entry(server_, slot, entry);
    if (host_.random(20) == 0) host_.sleep_until(host_.now_ns() + 1);
  }
  void set_counter() {
    auto& memory = server_.memory();
    memory.store(engine::rebindings_offset, memory.load(engine::rebindings_offset) + 1);
  }

  fabric::Host& host_;
  engine::Server& server_;
  std::uint64_t longest_pause_ns_;
};

// Returns how often the scan read a chunk again.
std::uint64_t scan_beside_fast_cleanup(std::uint64_t seed, fabric::FiberStackPool& stacks) {
  StoreOptions options;
  options.seed = seed;
  options.server.geometry = {.table_entries = raced_entries,
                             .region_bytes = 1'024,
                             .region_count = 2,
                             .mature_bytes = 4'096};
  options.server.cleanup_percent = 100;
  options.client.readahead.chunk_entries = raced_chain;
  TestStore store(options, stacks);
  const Bytes stable = key_at(0, raced_chain - 1, raced_entries);
  store.add_client([&](fabric::Host& host, Client& client) {
    for (int number = 0; number < static_cast<int>(raced_chain); ++number) {
      client.set(key_at(0, number, raced_entries), bytes_of("value"));
    }
    for (int number = 0; number + 1 < static_cast<int>(raced_chain); ++number) {
      client.remove(key_at(0, number, raced_entries));
    }
    const fabric::FiberId fiber = host.spawn({.name = "cleanup"}, [&] {
      host.sleep_until(host.now_ns() + host.random(2 * microsecond_ns));
      FastCleanup(host, *store.server(), 100 * (1 + seed % 8)).run();
    });
    const Scan found = scan(client);
    host.join(fiber);
    EXPECT_TRUE(found.result);
    EXPECT_TRUE(found.contents.contains(stable));
  });
  const StoreRun run = run_without_problems(store);
  return run.probe(probes::restart_at_changed_walk);
}

TEST(KeyScan, VisitsAKeyThatMovesThroughTheChunkThatItReads) {
  std::uint64_t changes = 0;
  for_each_seed(5'000, [&](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    if (testing::Test::HasFailure()) return;
    changes += scan_beside_fast_cleanup(seed, stacks);
  });
  EXPECT_GT(changes, 500U);
}

TEST(KeyScan, WaitsForALock) {
  for (const bool unlocks : {true, false}) {
    fabric::FiberStackPool stacks;
    StoreOptions options;
    options.client.server_timeout_ns = 10 * millisecond_ns;
    TestStore store(options, stacks);
    store.add_client([&](fabric::Host& host, Client& client) {
      client.set(bytes_of("key"), bytes_of("value"));
      const auto place = find_planted(*store.server(), bytes_of("key"));
      ASSERT_TRUE(place);
      store_entry(*store.server(), place->slot, place->entry.with_locked());
      const fabric::FiberId fiber = host.spawn({.name = "unlock"}, [&] {
        host.sleep_until(host.now_ns() + (unlocks ? 1 : 100) * millisecond_ns);
        store_entry(*store.server(), place->slot, place->entry);
      });
      const Scan found = scan(client);
      EXPECT_EQ(found.result.has_value(), unlocks);
      EXPECT_EQ(found.visits, unlocks ? 1U : 0U);
      if (!unlocks) {
        EXPECT_EQ(found.result.error(), Answer::timed_out);
      }
      host.join(fiber);
    });
    run_without_problems(store);
  }
}

// A cache

TEST(KeyScan, VisitsNoExpiredValueAndReportsTheTimeToLive) {
  fabric::FiberStackPool stacks;
  StoreOptions options;
  options.server.geometry.values_expire = true;
  TestStore store(options, stacks);
  store.add_client([](fabric::Host& host, Client& client) {
    client.set(bytes_of("short"), bytes_of("1"), millisecond_ns);
    client.set(bytes_of("long"), bytes_of("2"), 100 * millisecond_ns);
    client.set(bytes_of("kept"), bytes_of("3"));
    const auto left_to_live = [&] {
      std::map<Bytes, std::uint64_t> left_ns;
      EXPECT_TRUE(client.for_each_key([&](const engine::KeyAndValue& pair) {
        EXPECT_EQ(pair.value.size(), 1U);
        left_ns[Bytes(pair.key.begin(), pair.key.end())] = pair.time_to_live_ns;
      }));
      return left_ns;
    };
    EXPECT_EQ(left_to_live().size(), 3U);
    host.sleep_until(host.now_ns() + 2 * millisecond_ns);
    auto left_ns = left_to_live();
    EXPECT_EQ(left_ns.size(), 2U);
    EXPECT_FALSE(left_ns.contains(bytes_of("short")));
    EXPECT_EQ(left_ns.at(bytes_of("kept")), 0U);
    EXPECT_LE(left_ns.at(bytes_of("long")), 98 * millisecond_ns);
    EXPECT_GT(left_ns.at(bytes_of("long")), 90 * millisecond_ns);
  });
  run_without_problems(store);
}

// A broken connection

TEST(KeyScan, AnswersDisconnectedWhereverTheConnectionBreaks) {
  fabric::FiberStackPool stacks;
  std::set<std::uint64_t> visits_before;
  bool is_through = false;
  for (std::uint64_t delay_ns = 0; !is_through; delay_ns += 1'000) {
    TestStore store({}, stacks);
    store.add_client([&](fabric::Host& host, Client& client) {
      for (std::uint64_t number = 0; number < 200; ++number) client.set(numbered_key(number), {});
      const fabric::FiberId fiber = host.spawn({.name = "harm"}, [&] {
        host.sleep_until(host.now_ns() + delay_ns);
        store.simulation().break_connection(host.name());
      });
      const Scan found = scan(client);
      is_through = found.result.has_value();
      if (!is_through) {
        EXPECT_EQ(found.result.error(), Answer::disconnected);
      }
      visits_before.insert(found.visits);
      host.join(fiber);
      EXPECT_EQ(scan(client).result, tl::make_unexpected(Answer::disconnected));
      EXPECT_EQ(scan(client).visits, 0U);
    });
    run_without_problems(store);
  }
  EXPECT_TRUE(visits_before.contains(0));
  EXPECT_TRUE(visits_before.contains(200));
  EXPECT_GT(visits_before.size(), 5U);
}

TEST(KeyScan, AnswersDisconnectedIfTheClientIsDestroyed) {
  fabric::FiberStackPool stacks;
  TestStore store({}, stacks);
  store.add_host("leaver", [&](fabric::Host& host) {
    auto client = store.connect(host).value();
    for (std::uint64_t number = 0; number < 50; ++number) client->set(numbered_key(number), {});
    tl::expected<void, Answer> result;
    const fabric::FiberId fiber = host.spawn({.name = "scan"}, [&] {
      result = client->for_each_key([](const engine::KeyAndValue&) {});
    });
    host.sleep_until(host.now_ns() + 20 * microsecond_ns);
    client.reset();
    host.join(fiber);
    EXPECT_EQ(result, tl::make_unexpected(Answer::disconnected));
  });
  run_without_problems(store);
}

}  // namespace
}  // namespace falafel::engine_test
