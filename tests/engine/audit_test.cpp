// Invalid entries, created by a client that swaps arbitrary words. Nobody waits longer than the
// audit's interval, valid entries remain, and the server continues to work.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/layout/entry.h"
#include "engine/layout/key_hash.h"
#include "tests/engine/planted.h"
#include "tests/engine/store.h"
#include "tools/scenarios/store/raw_client.h"

namespace falafel::engine_test {
namespace {

using engine::Entry;
using store_scenario::RawClient;

constexpr std::uint64_t audit_interval_ns = millisecond_ns;
constexpr std::uint64_t audited_entries = 32;
constexpr std::uint64_t audited_region_bytes = 1'024;

StoreOptions audited_store(std::uint64_t seed, engine::Collection collection) {
  StoreOptions options;
  options.seed = seed;
  options.server.geometry = {
      .table_entries = audited_entries, .region_bytes = audited_region_bytes, .region_count = 6};
  options.server.cleanup_interval_ns = audit_interval_ns;
  options.server.collection = collection;
  return options;
}

// Replaces the slot's entry with the result of `alter`; retries while others change it.
void attack(RawClient& attacker, std::uint64_t slot, const std::function<Entry(Entry)>& alter) {
  const engine::Geometry geometry{.table_entries = audited_entries};
  Entry expected;
  for (bool is_done = false; !is_done;) {
    fabric::WorkRequest request;
    request.opcode = fabric::Opcode::compare_and_swap;
    request.length_bytes = fabric::word_bytes;
    request.local = attacker.buffer().at(0);
    request.remote = {attacker.hello().table_key, geometry.entry_offset(slot)};
    request.compare = expected.word();
    request.swap_or_add = alter(expected).word();
    ASSERT_TRUE(attacker.execute(request));
    std::uint64_t found = 0;
    std::memcpy(&found, attacker.buffer().bytes(0, sizeof found).data(), sizeof found);
    is_done = found == expected.word();
    expected = Entry(found);
  }
}

Bytes numbered(int number) { return bytes_of(fmt::format("key {}", number)); }

// Runs one client, with an attacker connected at the same time.
StoreRun run_attacked(
    const StoreOptions& options,
    const std::function<void(TestStore&, fabric::Host&, Client&, RawClient&)>& body) {
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    const auto attacker = RawClient::connect(host, store.address());
    ASSERT_NE(attacker, nullptr);
    body(store, host, client, *attacker);
  });
  StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
  return run;
}

constexpr std::array collections{engine::Collection::scan_memory, engine::Collection::walk_table};

TEST(Audit, TakesAForeignLockOffAKeyInItsPlace) {
  for (const engine::Collection collection : collections) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(seed);
      const StoreRun run = run_attacked(
          audited_store(seed, collection),
          [](TestStore& store, fabric::Host& host, Client& client, RawClient& attacker) {
            ASSERT_EQ(client.set(numbered(0), bytes_of("value")).answer, Answer::stored);
            const auto place = find_planted(*store.server(), numbered(0));
            ASSERT_TRUE(place);
            attack(attacker, place->slot, &Entry::with_locked);
            const std::uint64_t start_ns = host.now_ns();
            EXPECT_EQ(client.get(numbered(0)).value, bytes_of("value"));
            EXPECT_LE(host.now_ns() - start_ns, 2 * audit_interval_ns);
          });
      EXPECT_EQ(run.inspection.statistics.entries_repaired, 1U);
      EXPECT_EQ(run.state.contents.size(), 1U);
    }
  }
}

// A client that knows only the first table begins its searches there. It would wait for the lock
// until its time-out, again and again.
TEST(Audit, TakesAForeignLockOffATableThatIsNoLongerInUse) {
  constexpr int keys = 60;
  StoreOptions options = audited_store(1, engine::Collection::scan_memory);
  options.server.geometry.most_tables = 3;
  options.simulation.step_limit = 10'000'000;
  const StoreRun run = run_attacked(
      options, [](TestStore& store, fabric::Host& host, Client& client, RawClient& attacker) {
        const auto other = Client::connect(host, store.address(), {}).value();
        for (int number = 0; number < keys; ++number) {
          ASSERT_EQ(other->set(numbered(number), bytes_of("value")).answer, Answer::stored);
        }
        while (store.server()->inspect().tables.first == 0) {
          host.sleep_until(host.now_ns() + audit_interval_ns);
        }
        const std::uint64_t slot =
            engine::home_slot(numbered(0), store.server()->hash_key(), audited_entries);
        attack(attacker, slot, &Entry::with_locked);
        const std::uint64_t start_ns = host.now_ns();
        EXPECT_EQ(client.get(numbered(0)).value, bytes_of("value"));
        EXPECT_LE(host.now_ns() - start_ns, 2 * audit_interval_ns);
        other->disconnect();
      });
  EXPECT_EQ(run.inspection.statistics.entries_repaired, 1U);
  EXPECT_EQ(run.state.contents.size(), static_cast<std::size_t>(keys));
}

// The region is released and collected while its entry is locked.
TEST(Audit, IsNotNeededByACollectionThatMeetsAForeignLock) {
  for (const engine::Collection collection : collections) {
    StoreOptions options = audited_store(1, collection);
    options.server.cleanup_interval_ns = second_ns;
    run_attacked(options, [](TestStore& store, fabric::Host&, Client& client, RawClient& attacker) {
      ASSERT_EQ(client.set(numbered(0), bytes_of("value")).answer, Answer::stored);
      const auto place = find_planted(*store.server(), numbered(0));
      ASSERT_TRUE(place);
      attack(attacker, place->slot, &Entry::with_locked);
      const Bytes filling(audited_region_bytes / 2);
      for (int number = 1; number <= 4; ++number) {
        const Bytes key = key_at((place->slot + 2) % audited_entries, number, audited_entries);
        ASSERT_EQ(client.set(key, filling).answer, Answer::stored);
      }
      EXPECT_EQ(client.get(numbered(0)).value, bytes_of("value"));
    });
  }
}

// Entries behind the invalid one in a chain remain reachable.
TEST(Audit, MakesDeletedEntriesOfWhatPointsNowhere) {
  const engine::Geometry geometry =
      audited_store(1, engine::Collection::scan_memory).server.geometry;
  const auto pointing_to = [&](std::uint64_t offset) {
    return [units = geometry.to_units(offset)](Entry entry) { return entry.pointing_to(units); };
  };
  const std::vector<std::pair<std::string, std::function<Entry(Entry)>>> attacks{
      {"a free region", pointing_to(geometry.region_offset(5))},
      {"unused mature space", pointing_to(geometry.mature_offset(0) + 8'000)},
      {"the other mature space", pointing_to(geometry.mature_offset(1))},
      {"the superblock", pointing_to(8)},
      {"the table", pointing_to(engine::Geometry::table_offset())},
      {"a live stand-in", pointing_to(engine::Geometry::stand_in_offset())},
      {"beyond the chunk", [](Entry entry) { return entry.pointing_to(0xffff'ffff); }},
      {"empty and locked", [](Entry entry) { return entry.pointing_to(0).with_locked(); }},
      {"empty and deleted", [](Entry entry) { return entry.pointing_to(0).with_deleted(); }},
      {"empty, both",
       [](Entry entry) { return entry.pointing_to(0).with_deleted().with_locked(); }},
      {"locked, a free region", [&](Entry entry) {
         return entry.pointing_to(geometry.to_units(geometry.region_offset(4))).with_locked();
       }}};
  constexpr std::uint64_t home = 12;
  for (const engine::Collection collection : collections) {
    for (const auto& [name, alter] : attacks) {
      SCOPED_TRACE(name);
      const StoreRun run = run_attacked(
          audited_store(1, collection),
          [&, alter = alter](TestStore&, fabric::Host& host, Client& client, RawClient& attacker) {
            const auto key = [&](int number) { return key_at(home, number, audited_entries); };
            for (int number = 0; number < 3; ++number) {
              ASSERT_EQ(client.set(key(number), bytes_of("value")).answer, Answer::stored);
            }
            attack(attacker, home + 1, alter);
            host.sleep_until(host.now_ns() + 2 * audit_interval_ns);
            EXPECT_EQ(client.get(key(0)).value, bytes_of("value"));
            EXPECT_EQ(client.get(key(1)).answer, Answer::not_found);
            EXPECT_EQ(client.get(key(2)).value, bytes_of("value"));
            EXPECT_EQ(client.set(key(1), bytes_of("newer")).answer, Answer::stored);
          });
      EXPECT_EQ(run.inspection.statistics.entries_repaired, 1U);
      EXPECT_EQ(run.state.contents.size(), 3U);
    }
  }
}

// The attacker relocks the entry as soon as it is unlocked. This must not delay other keys, the
// memory or the cleanup.
TEST(Audit, IsNotHeldUpByAWordThatChangesForEver) {
  for (const engine::Collection collection : collections) {
    StoreOptions options = audited_store(1, collection);
    options.server.cleanup_percent = 0;
    fabric::FiberStackPool stacks;
    TestStore store(options, stacks);
    std::optional<std::uint64_t> target;
    bool is_over = false;
    store.add_host("attacker", [&](fabric::Host& host) {
      const auto attacker = RawClient::connect(host, store.address());
      ASSERT_NE(attacker, nullptr);
      while (!target) host.sleep_until(host.now_ns() + microsecond_ns);
      while (!is_over) {
        attack(*attacker, *target, [&](Entry entry) {
          return entry.with_locked().with_next_tag(store.server()->geometry().tag_bits);
        });
        const auto question = attacker->receive(host.now_ns());
        if (!question || question->kind != engine::MessageKind::ask_for_quiescence) continue;
        attacker->send({.kind = engine::MessageKind::heartbeat, .epoch = question->epoch});
      }
      attack(*attacker, *target, &Entry::without_lock);
    });
    store.add_client([&](fabric::Host& host, Client& client) {
      ASSERT_EQ(client.set(numbered(0), bytes_of("value")).answer, Answer::stored);
      target = find_planted(*store.server(), numbered(0))->slot;
      const Bytes filling(audited_region_bytes / 2);
      for (int number = 1; number <= 20; ++number) {
        const Bytes key = key_at((*target + 2) % audited_entries, number % 4, audited_entries);
        ASSERT_EQ(client.set(key, filling).answer, Answer::stored);
        ASSERT_EQ(client.remove(key).answer, Answer::deleted);
        host.sleep_until(host.now_ns() + audit_interval_ns);
      }
      EXPECT_GT(store.server()->inspect().statistics.entries_cleaned, 10U);
      is_over = true;
    });
    const StoreRun run = store.run();
    EXPECT_TRUE(run.problems.empty()) << describe(run);
  }
}

}  // namespace
}  // namespace falafel::engine_test
