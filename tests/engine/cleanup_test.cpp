// The cleanup by backward shift. After it, no deleted entry is left. During it, a search finds
// every live key or finds a lock. The tests cover all fill levels, chains that wrap around the
// table, a broken connection, and a fiber that is cancelled at each step and replaced by another.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

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

// Effects on others

constexpr std::uint64_t shared_entries = 64;

Bytes chain_key(int number) {
  const auto home = static_cast<std::uint64_t>(number % 8) * 8;
  return key_at(home, number / 8, shared_entries);
}

// The server stops at some step of a cleanup and resumes later. In the meantime, only searches that
// pass its two locks may time out.
void stop_in_the_middle(std::uint64_t steps, std::uint64_t& timed_out) {
  constexpr int keys = 40;
  constexpr std::uint64_t timeout_ns = 2 * millisecond_ns;
  StoreOptions options;
  options.server.geometry.table_entries = shared_entries;
  options.server.cleanup_interval_ns = second_ns;
  options.client.server_timeout_ns = timeout_ns;
  fabric::FiberStackPool stacks;
  Store store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    for (int number = 0; number < keys; ++number) {
      ASSERT_EQ(client.set(chain_key(number), bytes_of("value")).answer, Answer::stored);
    }
    for (int number = 0; number < keys; number += 4) client.remove(chain_key(number));
    host.spawn({.name = "cleanup", .daemon = true}, [&store] { store.server()->clean_up(); });
    host.sleep_until(host.now_ns() + steps * options.simulation.step_duration_ns);
    store.simulation().pause("server", 100 * millisecond_ns);
    for (int number = 0; number < keys; ++number) {
      const std::uint64_t start_ns = host.now_ns();
      const engine::GetResult result = client.get(chain_key(number));
      EXPECT_LE(host.now_ns() - start_ns, timeout_ns + 3 * millisecond_ns);
      if (result.answer == Answer::timed_out) {
        ++timed_out;
      } else {
        EXPECT_EQ(result.answer, number % 4 == 0 ? Answer::not_found : Answer::found) << number;
      }
    }
    host.sleep_until(host.now_ns() + 200 * millisecond_ns);
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
  std::uint64_t most_timed_out = 0;
  for (std::uint64_t steps = 0; steps < 400; steps += 7) {
    SCOPED_TRACE(steps);
    const std::uint64_t before = timed_out;
    stop_in_the_middle(steps, timed_out);
    most_timed_out = std::max(most_timed_out, timed_out - before);
  }
  EXPECT_GT(timed_out, 0U);
  // Each chain has five keys, and no chain reaches the next one.
  EXPECT_LE(most_timed_out, 5U);
}

// A collection gets its turn after a few removals instead of after the pass.
TEST(CleanupByShift, LetsACollectionTakeItsTurn) {
  constexpr int keys = 200;
  StoreOptions options;
  options.server.geometry = {.table_entries = 256, .region_bytes = 2'048, .region_count = 16};
  options.server.cleanup_interval_ns = 100 * second_ns;
  fabric::FiberStackPool stacks;
  Store store(options, stacks);
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

}  // namespace
}  // namespace falafel::engine_test
