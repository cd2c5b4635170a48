// Full stores with blocks: which values can be overwritten.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

constexpr std::uint64_t full_block_bytes = 4'096;

StoreOptions options_of_full_blocks(std::uint32_t block_count) {
  StoreOptions options;
  options.simulation.step_limit = 60'000'000;
  options.simulation.granularity = sim::Granularity::packet;
  options.server.heartbeat_timeout_ns = 10 * second_ns;
  options.server.geometry = {.table_entries = 8'192,
                             .region_bytes = full_block_bytes,
                             .region_count = 8,
                             .mature_bytes = full_block_bytes,
                             .mature_space_count = block_count};
  return options;
}

Bytes full_key(std::uint64_t number) { return bytes_of(fmt::format("key {:06}", number)); }

// Returns the number of keys that fit.
std::uint64_t fill_blocks(Client& client, std::size_t value_bytes) {
  std::uint64_t keys = 0;
  while (client.set(full_key(keys), Bytes(value_bytes)).answer == Answer::stored) ++keys;
  return keys;
}

void run_without_problems(TestStore& store) {
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

// Ends of blocks that are too short for a container are no reserve.
TEST(FullBlocks, CanBeOverwrittenWithValuesOfAnyLength) {
  for (const std::size_t value_bytes : {100U, 200U, 400U, 1'000U, 1'300U, 2'000U, 3'000U, 4'000U}) {
    fabric::FiberStackPool stacks;
    TestStore store(options_of_full_blocks(24), stacks);
    store.add_client([&](fabric::Host&, Client& client) {
      const std::uint64_t keys = fill_blocks(client, value_bytes);
      EXPECT_GE(keys * value_bytes, 24 * full_block_bytes / 3) << value_bytes;
      std::minstd_rand random(1);
      for (std::uint64_t count = 0; count < 4 * keys; ++count) {
        const std::uint64_t key = count < keys ? count : random() % keys;
        ASSERT_EQ(client.set(full_key(key), Bytes(value_bytes)).answer, Answer::stored)
            << value_bytes << " bytes, " << count << " of " << keys << " keys";
      }
    });
    run_without_problems(store);
  }
}

// The end of a block behind a short container is room for others of its length.
TEST(FullBlocks, HaveRoomBehindShortContainers) {
  fabric::FiberStackPool stacks;
  TestStore store(options_of_full_blocks(32), stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    std::uint64_t stored_bytes = 0;
    for (std::uint64_t key = 0;; ++key) {
      const Bytes value(key % 2 == 0 ? 400 : 3'900);
      if (client.set(full_key(key), value).answer != Answer::stored) break;
      stored_bytes += value.size();
    }
    EXPECT_GE(stored_bytes, 32 * full_block_bytes * 3 / 4);
  });
  run_without_problems(store);
}

}  // namespace
}  // namespace falafel::engine_test
