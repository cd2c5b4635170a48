// Containers that no correct client of this host writes: longer than its own requests, with wrong
// lengths, or with bytes that do not verify.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "engine/layout/container.h"
#include "tests/engine/planted.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

// Runs a store with one client whose body may access the server's memory.
StoreRun run_store(const StoreOptions& options,
                   const std::function<void(TestStore&, fabric::Host&, Client&)>& body) {
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) { body(store, host, client); });
  StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
  return run;
}

TEST(ForeignContainers, LongerThanARequestAreReadInPieces) {
  StoreOptions options;
  options.simulation.max_message_bytes = 4'096;
  run_store(options, [](TestStore& store, fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    Bytes value(20'000);
    for (std::size_t index = 0; index < value.size(); ++index) {
      value[index] = static_cast<std::byte>(index * 7 + index / 256);
    }
    ASSERT_EQ(client.set(key, {}).answer, Answer::stored);
    const auto place = find_planted(*store.server(), key);
    ASSERT_TRUE(place);
    store.server()->memory().write(place->container_offset, container_of(key, value));
    EXPECT_EQ(client.get(key).value, value);
    EXPECT_EQ(client.remove(key).answer, Answer::deleted);
  });
}

// The container has valid checksums, but its lengths are impossible in this store. Readers must
// neither allocate memory for them nor crash. When the region is collected, a walk over the table
// drops the entry. A scan of the region does not find the container and leaves the entry to the
// audit.
TEST(ForeignContainers, LongerThanARegionAreNotRead) {
  for (const auto collection : {engine::Collection::scan_memory, engine::Collection::walk_table}) {
    SCOPED_TRACE(to_string(collection));
    StoreOptions options;
    options.server.collection = collection;
    options.server.geometry.region_bytes = 1'024;
    options.server.cleanup_interval_ns = millisecond_ns;
    const StoreRun run =
        run_store(options, [&](TestStore& store, fabric::Host& host, Client& client) {
          const Bytes key = bytes_of("key");
          ASSERT_EQ(client.set(key, {}).answer, Answer::stored);
          const auto place = find_planted(*store.server(), key);
          ASSERT_TRUE(place);
          const Bytes container = container_of(key, Bytes(2'000));
          const Bytes longest(1'024 - engine::container_bytes(key.size(), 0));
          store.server()->memory().write(place->container_offset, container_of(key, longest));
          EXPECT_EQ(client.get(key).value, longest);
          store.server()->memory().write(place->container_offset, container);
          EXPECT_EQ(client.get(key).answer, Answer::corrupted);
          EXPECT_EQ(client.set(bytes_of("other key"), bytes_of("value")).answer, Answer::stored);
          client.disconnect();
          host.sleep_until(host.now_ns() + 2 * options.server.cleanup_interval_ns);
        });
    const engine::ServerStatistics& statistics = run.inspection.statistics;
    const bool is_scan = collection == engine::Collection::scan_memory;
    EXPECT_EQ(statistics.entries_repaired, is_scan ? 1U : 0U);
    EXPECT_EQ(statistics.containers_unreadable, is_scan ? 0U : 1U);
  }
}

// Damage: three keys of one chain, with a damaged container for the second one

constexpr std::uint64_t chain_table_entries = 64;
constexpr std::uint64_t chain_home = 20;
constexpr int chain_length = 3;

Bytes key_of_chain(int number) {
  return engine_test::key_at(chain_home, number, chain_table_entries);
}
Bytes value_of(int number) { return bytes_of(fmt::format("value {}", number)); }

StoreOptions options_of_chain() {
  StoreOptions options;
  options.server.geometry.table_entries = chain_table_entries;
  options.server.cleanup_percent = 100;  // only Server::clean_up runs cleanups
  return options;
}

void store_chain(Client& client) {
  for (int number = 0; number < chain_length; ++number) {
    ASSERT_EQ(client.set(key_of_chain(number), value_of(number)).answer, Answer::stored);
  }
}

enum class Part : std::uint8_t { header, key, value, offset };

void damage(Server& server, const Bytes& key, Part part) {
  const auto place = find_planted(server, key);
  ASSERT_TRUE(place);
  const auto flip = [&](std::uint64_t offset) {
    const std::uint64_t word = offset / fabric::word_bytes * fabric::word_bytes;
    server.memory().store(word, server.memory().load(word) ^ 0x0101'0101'0101'0101);
  };
  switch (part) {
    case Part::header: flip(place->container_offset + 8); break;
    case Part::key: flip(place->container_offset + engine::container_header_bytes); break;
    case Part::value:
      flip(place->container_offset + engine::container_header_bytes + key.size() + 1);
      break;
    case Part::offset:
      store_entry(server, place->slot, engine::Entry(place->entry.word() | 0xffff'ffff'0000'0000));
      break;
  }
}

class DamageTest : public testing::TestWithParam<Part> {};

std::string name_of(const testing::TestParamInfo<Part>& parameter) {
  constexpr std::array names{"header", "key", "value", "offset"};
  return names.at(static_cast<std::size_t>(parameter.param));
}

INSTANTIATE_TEST_SUITE_P(Engine, DamageTest,
                         testing::Values(Part::header, Part::key, Part::value, Part::offset),
                         name_of);

void expect_neighbours(Client& client) {
  EXPECT_EQ(client.get(key_of_chain(0)).value, value_of(0));
  EXPECT_EQ(client.get(key_of_chain(2)).value, value_of(2));
  EXPECT_EQ(client.set(key_of_chain(2), value_of(2)).answer, Answer::stored);
}

TEST_P(DamageTest, HidesNothingElse) {
  run_store(options_of_chain(), [](TestStore& store, fabric::Host&, Client& client) {
    store_chain(client);
    damage(*store.server(), key_of_chain(1), GetParam());
    EXPECT_EQ(client.get(key_of_chain(1)).answer, Answer::corrupted);
    expect_neighbours(client);
    EXPECT_EQ(client.get(key_of_chain(1)).answer, Answer::corrupted);
    EXPECT_EQ(client.remove(key_of_chain(1)).answer, Answer::deleted);
  });
}

TEST_P(DamageTest, IsRepairedBySet) {
  const StoreRun run =
      run_store(options_of_chain(), [](TestStore& store, fabric::Host&, Client& client) {
        store_chain(client);
        damage(*store.server(), key_of_chain(1), GetParam());
        EXPECT_EQ(client.set(key_of_chain(1), bytes_of("new")).answer, Answer::stored);
        EXPECT_EQ(client.get(key_of_chain(1)).value, bytes_of("new"));
        expect_neighbours(client);
        store.server()->clean_up();
        EXPECT_EQ(client.get(key_of_chain(1)).value, bytes_of("new"));
        expect_neighbours(client);
      });
  EXPECT_EQ(run.state.contents.size(), static_cast<std::size_t>(chain_length));
}

TEST_P(DamageTest, IsRepairedByDelete) {
  const StoreRun run =
      run_store(options_of_chain(), [](TestStore& store, fabric::Host&, Client& client) {
        store_chain(client);
        damage(*store.server(), key_of_chain(1), GetParam());
        EXPECT_EQ(client.remove(key_of_chain(1)).answer, Answer::deleted);
        EXPECT_EQ(client.get(key_of_chain(1)).answer, Answer::not_found);
        EXPECT_EQ(client.remove(key_of_chain(1)).answer, Answer::not_found);
        expect_neighbours(client);
        store.server()->clean_up();
        EXPECT_EQ(client.get(key_of_chain(1)).answer, Answer::not_found);
        expect_neighbours(client);
      });
  EXPECT_EQ(run.state.contents.size(), static_cast<std::size_t>(chain_length - 1));
}

// A key that is in no valid container may be in any damaged one.
TEST(Damage, OfSeveralContainersOfAChainIsRepairedAtOnce) {
  const StoreRun run =
      run_store(options_of_chain(), [](TestStore& store, fabric::Host&, Client& client) {
        store_chain(client);
        damage(*store.server(), key_of_chain(0), Part::header);
        damage(*store.server(), key_of_chain(2), Part::header);
        EXPECT_EQ(client.get(key_of_chain(1)).value, value_of(1));
        EXPECT_EQ(client.set(key_of_chain(1), value_of(1)).answer, Answer::stored);
        EXPECT_EQ(client.get(key_of_chain(2)).answer, Answer::corrupted)
            << "a key that was there repairs nothing";
        EXPECT_EQ(client.set(key_of_chain(2), bytes_of("new")).answer, Answer::stored);
        EXPECT_EQ(client.get(key_of_chain(2)).value, bytes_of("new"));
        EXPECT_EQ(client.get(key_of_chain(0)).answer, Answer::not_found);
      });
  EXPECT_EQ(run.state.contents.size(), 2U);
}

// The search also ends in a table without an empty slot.
TEST(Damage, InAFullTableHidesNothingElse) {
  StoreOptions options = options_of_chain();
  constexpr int entries = 4;
  options.server.geometry.table_entries = entries;
  run_store(options, [](TestStore& store, fabric::Host&, Client& client) {
    for (int number = 0; number < entries; ++number) {
      ASSERT_EQ(client.set(bytes_of(fmt::format("key {}", number)), value_of(number)).answer,
                Answer::stored);
    }
    damage(*store.server(), bytes_of("key 1"), Part::header);
    EXPECT_EQ(client.get(bytes_of("key 1")).answer, Answer::corrupted);
    for (const int number : {0, 2, 3}) {
      EXPECT_EQ(client.get(bytes_of(fmt::format("key {}", number))).value, value_of(number))
          << number;
    }
    EXPECT_EQ(client.remove(bytes_of("key 1")).answer, Answer::deleted);
  });
}

// Several clients repair the same key concurrently. Afterwards it is in the table once, with the
// value of the last SET.
TEST(Damage, IsRepairedByManyAtOnce) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    StoreOptions options = options_of_chain();
    options.seed = seed;
    TestStore store(options, stacks);
    bool is_damaged = false;
    int done = 0;
    constexpr int client_count = 3;
    for (int number = 0; number < client_count; ++number) {
      store.add_client([&, number](fabric::Host& host, Client& client) {
        if (number == 0) {
          store_chain(client);
          damage(*store.server(), key_of_chain(1), Part::header);
          is_damaged = true;
        }
        while (!is_damaged) host.sleep_until(host.now_ns() + microsecond_ns);
        store.require(client.set(key_of_chain(1), value_of(number)).answer == Answer::stored,
                      "SET is refused");
        ++done;
        while (done < client_count) host.sleep_until(host.now_ns() + microsecond_ns);
        store.require(client.get(key_of_chain(1)).answer == Answer::found, "the key is not found");
      });
    }
    const StoreRun run = store.run();
    ASSERT_TRUE(run.problems.empty()) << "seed " << seed << ": " << describe(run);
    ASSERT_EQ(run.state.contents.size(), static_cast<std::size_t>(chain_length)) << "seed " << seed;
  }
}

// A malicious client gives one slot of the chain new words repeatedly; none of them points to a
// container.
TEST(Damage, ThatChangesForEverDoesNotHideWhatIsBehind) {
  fabric::FiberStackPool stacks;
  TestStore store(options_of_chain(), stacks);
  bool is_over = false;
  bool is_attacked = false;
  store.add_client([&](fabric::Host& host, Client& client) {
    store_chain(client);
    is_attacked = true;
    host.sleep_until(host.now_ns() + 10 * microsecond_ns);
    for (int round = 0; round < 10; ++round) {
      EXPECT_EQ(client.get(key_of_chain(2)).value, value_of(2)) << round;
      EXPECT_EQ(client.set(key_of_chain(2), value_of(2)).answer, Answer::stored) << round;
    }
    is_over = true;
    host.sleep_until(host.now_ns() + 10 * microsecond_ns);
    EXPECT_EQ(client.remove(key_of_chain(1)).answer, Answer::deleted);
  });
  store.add_host("attacker", [&](fabric::Host& host) {
    while (!is_attacked) host.sleep_until(host.now_ns() + microsecond_ns);
    const std::uint64_t slot = find_planted(*store.server(), key_of_chain(1))->slot;
    std::uint64_t tag = 0;
    while (!is_over) {
      store_entry(*store.server(), slot, engine::Entry(0xffff'ffff'0000'0000 + 4 * tag++));
      host.sleep_until(host.now_ns() + 200);
    }
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

}  // namespace
}  // namespace falafel::engine_test
