// The server's processor sees clients' writes late. It must neither use older bytes as a container
// nor treat a container as lost.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "engine/layout/pinned.h"
#include "engine/probes.h"
#include "tests/engine/planted.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

constexpr std::uint64_t late_table_entries = 16;
constexpr std::uint64_t late_home = 5;

// A store that is cleaned up only when a test asks for it.
StoreOptions late_options(std::uint64_t seed, const engine::Geometry& chunk) {
  StoreOptions options;
  options.seed = seed;
  options.simulation.late_visibility = true;
  options.server.geometry = chunk;
  options.server.cleanup_interval_ns = 3'600 * second_ns;
  return options;
}

// Three keys of one chain are set repeatedly, so that regions are reused while they hold containers
// of earlier keys. A fourth key before them is deleted, so each cleanup has to move all three.
TEST(LateVisibility, CostsNoKeyThatACleanupMoves) {
  fabric::FiberStackPool stacks;
  std::uint64_t moved = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const StoreOptions options = late_options(
        seed, {.table_entries = late_table_entries, .region_bytes = 128, .region_count = 4});
    TestStore store(options, stacks);
    store.add_client([&](fabric::Host&, Client& client) {
      for (int round = 0; round < 30; ++round) {
        // Home slots differ between rounds, so an older container at the same offset belongs to
        // another chain.
        const auto key = [round](int number) {
          return key_at((late_home + static_cast<std::uint64_t>(round) * 3) % late_table_entries,
                        number, late_table_entries);
        };
        for (int number = 0; number < 4; ++number) {
          // A READ of the same client makes earlier WRITEs visible, so only the last WRITE may be
          // late.
          if (number == 3) {
            ASSERT_EQ(client.remove(key(0)).answer, Answer::deleted);
          }
          ASSERT_EQ(client.set(key(number), bytes_of("value")).answer, Answer::stored);
        }
        store.server()->clean_up();
        for (int number = 1; number < 4; ++number) {
          EXPECT_EQ(client.get(key(number)).value, bytes_of("value"));
          EXPECT_EQ(client.remove(key(number)).answer, Answer::deleted);
        }
      }
    });
    const StoreRun run = store.run();
    EXPECT_TRUE(run.problems.empty()) << describe(run);
    moved += run.probe(engine::probes::cleanup_moved_entry);
  }
  EXPECT_GT(moved, 1'000U);
}

// One client fills the table with values that are pinned in every second round, in regions that
// hold values of earlier rounds. Another client then needs an entry. Its READs make no WRITE of the
// first one visible.
TEST(LateVisibility, CostsNoPinnedValueThatAnEvictionMeets) {
  constexpr int keys = 8;
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    StoreOptions options = late_options(
        seed,
        {.table_entries = keys, .region_bytes = 128, .region_count = 4, .values_expire = true});
    options.server.evicts = true;
    TestStore store(options, stacks);
    int half_rounds = 0;
    const auto in_turn = [&](fabric::Host& host, int client, const auto& body) {
      while (half_rounds < 60) {
        if (half_rounds % 2 == client) {
          body(half_rounds % 4 < 2);
          ++half_rounds;
        } else {
          host.sleep_until(host.now_ns() + 100);
        }
      }
    };
    store.add_client([&](fabric::Host& host, Client& client) {
      in_turn(host, 0, [&](bool pins) {
        for (int key = 0; key < keys; ++key) client.remove(bytes_of(std::to_string(key)));
        store.server()->clean_up();
        for (int key = 0; key < keys; ++key) {
          ASSERT_EQ(client
                        .set(bytes_of(std::to_string(key)), bytes_of("value"),
                             pins ? engine::pinned_time_to_live_ns : 0)
                        .answer,
                    Answer::stored);
        }
      });
    });
    store.add_client([&](fabric::Host& host, Client& client) {
      in_turn(host, 1, [&](bool pinned) {
        EXPECT_EQ(client.set(bytes_of("another"), bytes_of("value")).answer,
                  pinned ? Answer::table_full : Answer::stored);
        for (int key = 0; key < keys && pinned; ++key) {
          EXPECT_EQ(client.get(bytes_of(std::to_string(key))).answer, Answer::found);
        }
        client.remove(bytes_of("another"));
      });
    });
    const StoreRun run = store.run();
    EXPECT_TRUE(run.problems.empty()) << describe(run);
    EXPECT_GT(run.probe(engine::probes::value_spared), 100U);
    EXPECT_GT(run.probe(engine::probes::value_evicted), 10U);
  }
}

}  // namespace
}  // namespace falafel::engine_test
