// The server's processor sees clients' writes late. It must neither use older bytes as a container
// nor treat a container as lost.
#include <gtest/gtest.h>

#include <cstdint>

#include "engine/probes.h"
#include "tests/engine/planted.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

constexpr std::uint64_t late_table_entries = 16;
constexpr std::uint64_t late_home = 5;

// Three keys of one chain are set repeatedly, so that regions are reused while they hold containers
// of earlier keys. A fourth key before them is deleted, so each cleanup has to move all three.
TEST(LateVisibility, CostsNoKeyThatACleanupMoves) {
  fabric::FiberStackPool stacks;
  std::uint64_t moved = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    StoreOptions options;
    options.seed = seed;
    options.simulation.late_visibility = true;
    options.server.geometry = {
        .table_entries = late_table_entries, .region_bytes = 128, .region_count = 4};
    options.server.cleanup_interval_ns = 3'600 * second_ns;
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

}  // namespace
}  // namespace falafel::engine_test
