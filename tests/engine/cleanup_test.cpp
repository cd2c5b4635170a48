// The cleanup by backward shift. After it, no deleted entry is left. During it, a search finds
// every live key or finds a lock. The tests cover all fill levels, chains that wrap around the
// table, a broken connection, and a fiber that is cancelled at each step and replaced by another.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/layout/key_hash.h"
#include "engine/probes.h"
#include "tests/engine/planted.h"
#include "tests/engine/store.h"
#include "tests/engine/table_bench.h"

namespace falafel::engine_test {
namespace {

namespace probes = engine::probes;

struct Planting {
  enum class Kind : std::uint8_t { insert, remove, stand_in, unreadable } kind = Kind::insert;
  std::uint8_t key = 0;
};

Bytes key_of(std::uint8_t number) { return {std::byte{0x6b}, std::byte{number}}; }

void plant(TableBench& bench, const std::vector<Planting>& plantings) {
  for (const Planting& planting : plantings) {
    switch (planting.kind) {
      case Planting::Kind::insert: bench.insert(key_of(planting.key)); break;
      case Planting::Kind::remove: bench.remove(key_of(planting.key)); break;
      case Planting::Kind::stand_in: bench.plant_stand_in(); break;
      case Planting::Kind::unreadable: bench.plant_unreadable(); break;
    }
  }
}

TableBenchOptions draw_options() {
  TableBenchOptions options;
  options.geometry = {.table_entries = *rc::gen::element<std::uint64_t>(1, 2, 3, 4, 7, 8, 16, 40),
                      .region_bytes = 1'024,
                      .region_count = 1,
                      .mature_bytes = 16'384};
  options.seed = *rc::gen::arbitrary<std::uint64_t>();
  options.simulation.processor_preemption = *rc::gen::arbitrary<bool>();
  options.simulation.atomic_capability =
      *rc::gen::element(fabric::AtomicCapability::device, fabric::AtomicCapability::global);
  return options;
}

// Chooses from 48 keys so that tables fill up, with enough deletions for long chains of both kinds.
std::vector<Planting> draw_plantings(bool with_rubbish) {
  using Kind = Planting::Kind;
  return *rc::gen::scale(
      2.0, rc::gen::container<std::vector<Planting>>(rc::gen::exec([with_rubbish] {
        const Kind kind = *rc::gen::weightedElement<Kind>(
            {{6, Kind::insert}, {4, Kind::remove}, {1, Kind::stand_in}, {1, Kind::unreadable}});
        const bool is_rubbish = kind == Kind::stand_in || kind == Kind::unreadable;
        return Planting{.kind = is_rubbish && !with_rubbish ? Kind::insert : kind,
                        .key = *rc::gen::inRange<std::uint8_t>(0, 48)};
      })));
}

std::string describe(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& problem : problems) text += problem + "\n";
  return text;
}

// Counts what all random tables encountered.
struct CleanupTotals {
  std::uint64_t moved = 0;
  std::uint64_t wrapped = 0;
  std::uint64_t most_locked = 0;
  std::uint64_t full_tables = 0;
};

TEST(CleanupByShift, LeavesNoDeletedEntryAndEveryKeyFound) {
  CleanupTotals totals;
  fabric::FiberStackPool stacks;
  const bool holds = rc::check("a cleaned table", [&] {
    const TableBenchOptions options = draw_options();
    const std::vector<Planting> plantings = draw_plantings(false);
    TableBench bench(options, stacks);
    const auto problems = bench.run([&](TableBench& table) {
      plant(table, plantings);
      const std::uint64_t deleted = table.deleted_entries();
      totals.full_tables += table.is_full() && deleted > 0 ? 1 : 0;
      table.clean();
      table.require(table.deleted_entries() == 0, "a deleted entry is left");
      table.require(table.locked_entries() == 0, "a lock is left");
      table.require(table.statistics().entries_cleaned == deleted, "removed more or less");
    });
    totals.moved += bench.probe(probes::cleanup_moved_entry);
    totals.wrapped += bench.probe(probes::cleanup_wrapped);
    totals.most_locked = std::max(totals.most_locked, bench.most_locked());
    RC_LOG() << describe(problems);
    RC_ASSERT(problems.empty());
  });
  EXPECT_TRUE(holds);
  EXPECT_GT(totals.moved, 0U);
  EXPECT_GT(totals.wrapped, 0U);
  EXPECT_GT(totals.full_tables, 0U);
  EXPECT_EQ(totals.most_locked, 2U);
}

// Unreadable entries disappear by the second pass, because the first one turns them into deleted
// entries.
TEST(CleanupByShift, RemovesWhatHasNoKeyToo) {
  fabric::FiberStackPool stacks;
  EXPECT_TRUE(rc::check("a table with rubbish", [&] {
    const TableBenchOptions options = draw_options();
    const std::vector<Planting> plantings = draw_plantings(true);
    TableBench bench(options, stacks);
    const auto problems = bench.run([&](TableBench& table) {
      plant(table, plantings);
      table.clean();
      table.clean();
      table.require(table.deleted_entries() == 0, "a deleted entry is left");
      table.require(table.locked_entries() == 0, "a lock is left");
    });
    RC_LOG() << describe(problems);
    RC_ASSERT(problems.empty());
  }));
}

// Inserts keys 0, 1, ... until the table is full, then deletes every second one.
void fill(TableBench& table) {
  std::uint8_t keys = 0;
  while (table.insert(key_of(keys))) ++keys;
  for (std::uint8_t key = 0; key < keys; key += 2) table.remove(key_of(key));
}

void clean_with_a_cancelled_fiber(fabric::AtomicCapability capability, std::uint64_t seed,
                                  std::uint64_t steps_to_break) {
  fabric::FiberStackPool stacks;
  bool was_cancelled = true;
  std::uint64_t runs = 0;
  for (std::uint64_t steps = 0; was_cancelled; ++steps, ++runs) {
    TableBenchOptions options{
        .geometry = {.table_entries = 6, .region_bytes = 1'024, .region_count = 1}, .seed = seed};
    options.simulation.atomic_capability = capability;
    options.simulation.processor_preemption = true;
    TableBench bench(options, stacks);
    const auto problems = bench.run([&](TableBench& table) {
      fill(table);
      was_cancelled = table.clean_for(steps, steps_to_break);
      table.clean();
      table.clean();
      table.require(table.deleted_entries() == 0, "a deleted entry is left");
      table.require(table.locked_entries() == 0, "a lock is left");
    });
    ASSERT_TRUE(problems.empty()) << steps << " steps: " << describe(problems);
  }
  EXPECT_GT(runs, 5U);
}

TEST(CleanupByShift, IsFinishedByTheNextFiberWhereverOneIsCancelled) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    constexpr std::uint64_t never = TableBench::never;
    clean_with_a_cancelled_fiber(fabric::AtomicCapability::global, seed, never);
    clean_with_a_cancelled_fiber(fabric::AtomicCapability::device, seed, never);
    for (const std::uint64_t steps_to_break : {5U, 30U, 60U}) {
      clean_with_a_cancelled_fiber(fabric::AtomicCapability::device, seed, steps_to_break);
    }
  }
}

// A hostile client changes an entry before every attempt of the cleanup to change it. The cleanup
// gives up that removal and completes the others.

constexpr std::uint64_t attacked_home = 10;
constexpr std::uint64_t attacked_entries = 64;
constexpr std::uint64_t most_lost = 8;         // attempts of one removal on one entry
constexpr std::uint64_t most_changes = 1'000;  // by the hostile client, which then stops

Bytes attacked_key(int number) { return key_at(attacked_home, number, attacked_entries); }

// Deletes the first key of the chain and a key elsewhere. Then cleans the table while the hostile
// client changes the entry at `distance` behind the chain's home slot before every attempt.
void clean_beside_a_hostile_word(std::uint64_t distance,
                                 const std::function<void(TableBench&)>& plant_chain) {
  fabric::FiberStackPool stacks;
  const engine::Geometry geometry{
      .table_entries = attacked_entries, .region_bytes = 1'024, .region_count = 1};
  TableBench bench({.geometry = geometry}, stacks);
  const auto problems = bench.run([&](TableBench& table) {
    plant_chain(table);
    const Bytes elsewhere = key_at(attacked_home + 20, 0, attacked_entries);
    table.insert(elsewhere);
    table.remove(elsewhere);
    table.remove(attacked_key(0));
    std::uint64_t changes = 0;
    table.set_rival([&](const engine::EntryUpdate& update) {
      const engine::Entry word = table.entry(update.slot);
      if (update.slot != attacked_home + distance || word.is_locked() || changes == most_changes)
        return;
      ++changes;
      table.set_entry(update.slot, word.with_next_tag(engine::most_tag_bits));
    });
    table.clean();
    EXPECT_EQ(changes, most_lost);
    EXPECT_EQ(table.statistics().entries_cleaned, 1U) << "the key elsewhere";
    EXPECT_EQ(table.deleted_entries(), 1U);
    EXPECT_EQ(table.locked_entries(), 0U);
    table.set_rival({});
    table.clean();
    table.clean();
    EXPECT_EQ(table.deleted_entries(), 0U);
  });
  EXPECT_TRUE(problems.empty()) << describe(problems);
}

TEST(CleanupBesideAHostileWord, GivesUpADeletedEntry) {
  clean_beside_a_hostile_word(0, [](TableBench& table) { table.insert(attacked_key(0)); });
}

TEST(CleanupBesideAHostileWord, GivesUpAtAnEntryThatIsToMove) {
  clean_beside_a_hostile_word(2, [](TableBench& table) {
    for (int number = 0; number < 3; ++number) table.insert(attacked_key(number));
  });
}

TEST(CleanupBesideAHostileWord, GivesUpAtADamagedEntry) {
  clean_beside_a_hostile_word(1, [](TableBench& table) {
    table.insert(attacked_key(0));
    table.plant_unreadable_at(attacked_home + 1);
  });
}

TEST(CleanupBesideAHostileWord, GivesUpAtTheEndOfTheChain) {
  clean_beside_a_hostile_word(1, [](TableBench& table) { table.insert(attacked_key(0)); });
}

// The hostile client gives each entry that has moved another container, so that it may move again.
TEST(CleanupBesideAHostileWord, MovesNoMoreEntriesThanThereAre) {
  constexpr std::uint64_t entries = 8;
  fabric::FiberStackPool stacks;
  TableBench bench(
      {.geometry = {.table_entries = entries, .region_bytes = 1'024, .region_count = 1}}, stacks);
  std::uint64_t changes = 0;
  const auto problems = bench.run([&](TableBench& table) {
    // For each slot, a container whose home slot is as far away as possible.
    std::vector<std::uint32_t> farthest;
    for (std::uint64_t slot = 0; slot < entries; ++slot) {
      farthest.push_back(table.store_container(key_at((slot + 1) % entries, 0, entries)));
      table.set_entry(slot, engine::Entry().pointing_to(farthest[slot]));
    }
    table.set_entry(0, table.entry(0).with_deleted());
    table.set_rival([&](const engine::EntryUpdate&) {
      for (std::uint64_t slot = 0; slot < entries && changes < most_changes; ++slot) {
        const engine::Entry word = table.entry(slot);
        if (word.is_locked() || word.is_deleted() || word.reference() == farthest[slot]) continue;
        table.set_entry(slot, word.pointing_to(farthest[slot]));
        ++changes;
      }
    });
    table.clean();
    EXPECT_EQ(table.locked_entries(), 0U);
  });
  EXPECT_TRUE(problems.empty()) << describe(problems);
  EXPECT_GE(bench.probe(probes::cleanup_moved_entry), entries);
  EXPECT_LT(changes, most_changes);
}

// Effects on others

constexpr std::uint64_t shared_entries = 64;

Bytes chain_key(int number) {
  const auto home = static_cast<std::uint64_t>(number % 8) * 8;
  return key_at(home, number / 8, shared_entries);
}

std::uint64_t locked_entries(Server& server) {
  std::uint64_t locked = 0;
  for (std::uint64_t slot = 0; slot < shared_entries; ++slot) {
    locked += load_entry(server, slot).is_locked() ? 1 : 0;
  }
  return locked;
}

// Returns whether a search for the key reaches a locked entry before it ends.
bool meets_lock(Server& server, const Bytes& key) {
  const std::uint64_t home = engine::home_slot(key, server.hash_key(), shared_entries);
  for (std::uint64_t step = 0; step < shared_entries; ++step) {
    const engine::Entry entry = load_entry(server, (home + step) % shared_entries);
    if (entry.is_locked()) return true;
    if (entry.is_empty() || key_behind(server, entry) == key) return false;
  }
  return false;
}

// The server stops at some step of a cleanup and resumes later. In the meantime, searches that pass
// its two locks time out, and all other searches succeed.
void stop_in_the_middle(std::uint64_t steps, std::uint64_t& timed_out) {
  constexpr int keys = 40;
  constexpr std::uint64_t timeout_ns = 2 * millisecond_ns;
  StoreOptions options;
  options.server.geometry.table_entries = shared_entries;
  options.server.cleanup_interval_ns = second_ns;
  options.client.server_timeout_ns = timeout_ns;
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    for (int number = 0; number < keys; ++number) {
      ASSERT_EQ(client.set(chain_key(number), bytes_of("value")).answer, Answer::stored);
    }
    for (int number = 0; number < keys; number += 4) client.remove(chain_key(number));
    host.spawn({.name = "cleanup", .daemon = true}, [&store] { store.server()->clean_up(); });
    host.sleep_until(host.now_ns() + steps * options.simulation.step_duration_ns);
    store.simulation().pause("server", 200 * millisecond_ns);
    host.sleep_until(host.now_ns() + millisecond_ns);  // until its requests have landed
    EXPECT_LE(locked_entries(*store.server()), 2U);
    for (int number = 0; number < keys; ++number) {
      const Bytes key = chain_key(number);
      const std::uint64_t start_ns = host.now_ns();
      const Answer answer = client.get(key).answer;
      EXPECT_LE(host.now_ns() - start_ns, timeout_ns + 3 * millisecond_ns);
      const Answer undisturbed = number % 4 == 0 ? Answer::not_found : Answer::found;
      EXPECT_EQ(answer, meets_lock(*store.server(), key) ? Answer::timed_out : undisturbed)
          << number;
      timed_out += answer == Answer::timed_out ? 1 : 0;
    }
    host.sleep_until(host.now_ns() + 300 * millisecond_ns);
    for (int number = 0; number < keys; ++number) {
      EXPECT_EQ(client.get(chain_key(number)).answer,
                number % 4 == 0 ? Answer::not_found : Answer::found);
    }
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << engine_test::describe(run);
}

TEST(CleanupByShift, BlocksTwoEntriesWhileTheServerIsStopped) {
  std::uint64_t timed_out = 0;
  for (std::uint64_t steps = 0; steps < 400; steps += 7) {
    SCOPED_TRACE(steps);
    stop_in_the_middle(steps, timed_out);
  }
  EXPECT_GT(timed_out, 0U);
}

// A collection gets its turn after a few removals instead of after the pass.
TEST(CleanupByShift, LetsACollectionTakeItsTurn) {
  constexpr int keys = 200;
  StoreOptions options;
  options.server.geometry = {.table_entries = 256, .region_bytes = 2'048, .region_count = 16};
  options.server.cleanup_interval_ns = 100 * second_ns;
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    const auto key = [](int number) { return bytes_of(fmt::format("key {}", number)); };
    for (int number = 0; number < keys; ++number) client.set(key(number), {});
    for (int number = 0; number < keys; ++number) client.remove(key(number));
    const auto statistics = [&store] { return store.server()->inspect().statistics; };
    host.spawn({.name = "cleanup", .daemon = true}, [&store] { store.server()->clean_up(); });
    while (statistics().entries_cleaned == 0) host.sleep_until(host.now_ns() + microsecond_ns);
    const std::uint64_t cleaned = statistics().entries_cleaned;
    const std::uint64_t collected = statistics().regions_collected;
    for (int number = 0; statistics().regions_collected == collected; ++number) {
      ASSERT_EQ(client.set(key(keys + number), Bytes(900)).answer, Answer::stored);
    }
    EXPECT_LT(statistics().entries_cleaned - cleaned, keys / 2);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << engine_test::describe(run);
}

// Others overwrite keys all the time, so that regions are released during each collection.
TEST(CleanupByShift, HasItsTurnBesideConstantCollections) {
  constexpr int keys = 200;
  constexpr std::uint64_t most_regions = 4'000;  // that are collected before the cleanup is over
  StoreOptions options;
  options.server.geometry = {.table_entries = 256, .region_bytes = 1'024, .region_count = 64};
  options.server.cleanup_interval_ns = 100 * second_ns;
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  bool is_cleaning = false;
  bool is_over = false;
  const auto key = [](int number) { return bytes_of(fmt::format("key {}", number)); };
  const auto statistics = [&store] { return store.server()->inspect().statistics; };
  store.add_client([&](fabric::Host& host, Client& client) {
    for (int number = 0; number < keys; ++number) client.set(key(number), {});
    for (int number = 0; number < keys; ++number) client.remove(key(number));
    is_cleaning = true;
    const std::uint64_t collected = statistics().regions_collected;
    host.spawn({.name = "cleanup", .daemon = true}, [&] {
      store.server()->clean_up();
      is_over = true;
    });
    while (!is_over && statistics().regions_collected - collected < most_regions) {
      host.sleep_until(host.now_ns() + microsecond_ns);
    }
    is_cleaning = false;
    EXPECT_TRUE(is_over) << statistics().entries_cleaned << " entries cleaned";
  });
  for (int writer = 0; writer < 24; ++writer) {
    store.add_client([&, writer](fabric::Host& host, Client& client) {
      while (!is_cleaning) host.sleep_until(host.now_ns() + microsecond_ns);
      while (is_cleaning) {
        EXPECT_EQ(client.set(key(keys + writer), Bytes(900)).answer, Answer::stored);
      }
    });
  }
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << engine_test::describe(run);
}

}  // namespace
}  // namespace falafel::engine_test
