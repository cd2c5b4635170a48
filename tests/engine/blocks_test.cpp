// Blocks: how much of the memory they use, how much the cleaner copies, and that operations go on
// meanwhile.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "engine/layout/container.h"
#include "engine/probes.h"
#include "engine/server/mature_spaces.h"
#include "tests/engine/planted.h"
#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::MatureSpaces;

// The spaces of a store

constexpr engine::Geometry four_blocks{
    .table_entries = 4, .region_bytes = 256, .mature_bytes = 256, .mature_space_count = 4};

TEST(MatureSpaces, CopiesThatDoNotFitIntoTheActiveBlockOpenAnother) {
  MatureSpaces spaces(four_blocks);
  EXPECT_EQ(spaces.allocate(100), four_blocks.mature_offset(0));
  EXPECT_EQ(spaces.allocate(100), four_blocks.mature_offset(0) + 104);
  EXPECT_EQ(spaces.free_count(), 3U);
  EXPECT_EQ(spaces.allocate(100), four_blocks.mature_offset(1));
  EXPECT_EQ(spaces.active(), 1U);
  EXPECT_EQ(spaces.free_count(), 2U);
  EXPECT_EQ(spaces[0].used_bytes, 208U);
  EXPECT_FALSE(spaces[0].active);
  EXPECT_EQ(spaces.allocated_bytes(), 3U * 104);
}

TEST(MatureSpaces, ACollectedBlockIsFreeOnceClientsAreQuiescent) {
  MatureSpaces spaces(four_blocks);
  spaces.allocate(256);
  spaces.allocate(256);
  const std::uint64_t offset = four_blocks.mature_offset(0);
  EXPECT_TRUE(spaces.is_in_use(offset));
  spaces.begin_collection(0);
  spaces.end_collection(0, true);
  EXPECT_FALSE(spaces.is_in_use(offset));
  EXPECT_EQ(spaces.waiting_count(), 1U);
  EXPECT_EQ(spaces.free_count(), 2U);
  EXPECT_EQ(spaces.allocate(256), four_blocks.mature_offset(2));
  spaces.set_reclaimed(0);
  EXPECT_EQ(spaces.waiting_count(), 0U);
  EXPECT_EQ(spaces.allocate(256), offset);
}

TEST(MatureSpaces, ACollectionOfASemiSpaceMovesToTheOther) {
  const engine::Geometry layout{.table_entries = 4, .region_bytes = 256, .mature_bytes = 256};
  MatureSpaces spaces(layout);
  spaces.allocate(256);
  spaces.begin_collection(0);
  EXPECT_EQ(spaces.allocate(64), layout.mature_offset(1));
  EXPECT_EQ(spaces.active(), 0U);
  spaces.end_collection(0, true);
  EXPECT_EQ(spaces.active(), 1U);
  EXPECT_EQ(spaces.allocate(64), layout.mature_offset(1) + 64);
  EXPECT_EQ(spaces.free_count(), 0U);
  spaces.set_reclaimed(0);
  EXPECT_EQ(spaces.free_count(), 1U);
}

// Stores

constexpr std::uint64_t block_bytes = 4'096;
constexpr std::uint32_t block_count = 256;
constexpr std::size_t value_bytes = 100;

StoreOptions options_with_blocks() {
  StoreOptions options;
  options.simulation.step_limit = 30'000'000;
  options.simulation.granularity = sim::Granularity::packet;
  options.server.heartbeat_timeout_ns = 10 * second_ns;
  options.server.geometry = {.table_entries = 8'192,
                             .region_bytes = block_bytes,
                             .region_count = 4,
                             .mature_bytes = block_bytes,
                             .mature_space_count = block_count};
  return options;
}

Bytes stored_key(std::uint64_t number) { return bytes_of(fmt::format("key {:06}", number)); }

std::uint64_t stored_bytes(const engine::Geometry& geometry) {
  return geometry.round_up_to_unit(engine::container_bytes(stored_key(0).size(), value_bytes));
}

TEST(Blocks, HoldSevenTenthsOfTheChunkBeforeASetIsRefused) {
  fabric::FiberStackPool stacks;
  const StoreOptions options = options_with_blocks();
  TestStore store(options, stacks);
  std::uint64_t keys = 0;
  store.add_client([&](fabric::Host&, Client& client) {
    while (client.set(stored_key(keys), Bytes(value_bytes)).answer == Answer::stored) ++keys;
    // A SET that needs no more memory is still served, and so is every key.
    EXPECT_EQ(client.set(stored_key(0), Bytes(value_bytes)).answer, Answer::stored);
    EXPECT_EQ(client.set(stored_key(keys), Bytes(value_bytes)).answer, Answer::out_of_memory);
    for (std::uint64_t key = 0; key < keys; key += 97) {
      EXPECT_EQ(client.get(stored_key(key)).answer, Answer::found) << key;
    }
  });
  const StoreRun run = run_without_problems(store);
  EXPECT_EQ(run.state.contents.size(), keys);
  const engine::Geometry& geometry = options.server.geometry;
  const double live_bytes = static_cast<double>(keys * stored_bytes(geometry));
  EXPECT_GE(live_bytes / static_cast<double>(geometry.chunk_bytes()), 0.7);
}

TEST(Blocks, CopyAtMostThreeBytesForEachByteWrittenWhenFourFifthsAreLive) {
  fabric::FiberStackPool stacks;
  const StoreOptions options = options_with_blocks();
  TestStore store(options, stacks);
  const std::uint64_t keys =
      block_count * block_bytes / 5 * 4 / stored_bytes(options.server.geometry);
  double copied = 0;
  const std::uint64_t written = 2 * keys;
  store.add_client([&](fabric::Host&, Client& client) {
    std::minstd_rand random(1);
    const auto overwrite = [&] {
      for (std::uint64_t count = 0; count < written; ++count) {
        ASSERT_EQ(client.set(stored_key(random() % keys), Bytes(value_bytes)).answer,
                  Answer::stored);
      }
    };
    for (std::uint64_t key = 0; key < keys; ++key) {
      ASSERT_EQ(client.set(stored_key(key), Bytes(value_bytes)).answer, Answer::stored);
    }
    overwrite();  // until the garbage is spread as it will be
    const auto before = store.server()->inspect().statistics;
    overwrite();
    const auto after = store.server()->inspect().statistics;
    EXPECT_GT(after.mature_collections, before.mature_collections);
    copied = static_cast<double>(after.containers_copied - before.containers_copied);
  });
  const StoreRun run = run_without_problems(store);
  EXPECT_EQ(run.state.contents.size(), keys);
  EXPECT_LE(copied / static_cast<double>(written), 3);
  RecordProperty("copied_per_written",
                 fmt::format("{:.2f}", copied / static_cast<double>(written)));
}

// The reserve lasts, wherever the garbage is: containers are shorter than a 32nd of a block.
TEST(Blocks, CanBeOverwrittenForEverWhenTheyAreFull) {
  for_each_seed(3, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options = options_with_blocks();
    options.seed = seed;
    options.server.geometry.mature_space_count = 24;
    TestStore store(options, stacks);
    std::uint64_t keys = 0;
    store.add_client([&](fabric::Host&, Client& client) {
      std::minstd_rand random(static_cast<std::uint32_t>(seed));
      while (client.set(stored_key(keys), Bytes(80)).answer == Answer::stored) ++keys;
      for (std::uint64_t count = 0; count < 2 * keys; ++count) {
        const std::uint64_t key = seed % 2 == 0 ? count * 31 % keys : random() % keys;
        ASSERT_EQ(client.set(stored_key(key), Bytes(80)).answer, Answer::stored) << count;
      }
      for (std::uint64_t key = 0; key < keys; ++key) {
        const Bytes shorter(random() % 80);
        ASSERT_EQ(client.set(stored_key(key), shorter).answer, Answer::stored) << key;
      }
    });
    const StoreRun run = run_without_problems(store);
    EXPECT_EQ(run.state.contents.size(), keys);
  });
}

// A walk over the table meets the containers of all regions that are being collected in the order
// of the table: here first those that take more than half a block. If one walk were for all
// regions, these would open a block each, and the others would need blocks that are not free. The
// server asks clients once whether they are quiescent.
TEST(Blocks, TakeOneRegionAfterTheOther) {
  constexpr std::uint32_t writers = 4;
  constexpr std::uint64_t bytes_of_block = 256;
  constexpr std::uint64_t long_bytes = 136;
  constexpr std::uint64_t table_entries = 16;
  for_each_seed(5, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options;
    options.seed = seed;
    options.server.collection = engine::Collection::walk_table;
    options.server.keeps_overwrite_reserve = false;
    options.server.geometry = {.table_entries = table_entries,
                               .region_bytes = bytes_of_block,
                               .region_count = 2 * writers,
                               .mature_bytes = bytes_of_block,
                               .mature_space_count = writers + 2};
    TestStore store(options, stacks);
    const auto set = [](Client& client, std::uint64_t slot, std::uint64_t container_bytes) {
      const Bytes key = key_at(slot, 0, table_entries);
      const Bytes value(container_bytes - engine::container_bytes(key.size(), 0));
      return client.set(key, value).answer;
    };
    store.add_client([&](fabric::Host&, Client& client) {
      EXPECT_EQ(set(client, 0, long_bytes), Answer::stored);
      client.disconnect();  // so it is in the active block soon
    });
    for (std::uint64_t writer = 1; writer <= writers; ++writer) {
      store.add_client([&, writer](fabric::Host& host, Client& client) {
        host.sleep_until(millisecond_ns);
        EXPECT_EQ(set(client, writer, long_bytes), Answer::stored);
        host.sleep_until(2 * millisecond_ns);
        EXPECT_EQ(set(client, writers + writer, bytes_of_block - long_bytes), Answer::stored);
        host.sleep_until(3 * millisecond_ns);
        if (writer == 1) store.simulation().pause("server", millisecond_ns);
        host.sleep_until(3 * millisecond_ns + 100 * microsecond_ns);
        // Its region is full, so it releases the region.
        set(client, 2 * writers + writer, long_bytes);
      });
    }
    const StoreRun run = run_without_problems(store);
    EXPECT_GE(run.state.contents.size(), 2U * writers + 1);
    EXPECT_EQ(run.inspection.statistics.regions_collected, writers + 1U);
    EXPECT_EQ(run.probe(engine::probes::reclamation_waited), 2U);  // once for all writers
  });
}

// A deleted key keeps its header and key until a cleanup.
TEST(Blocks, HaveRoomAgainAfterDeletes) {
  fabric::FiberStackPool stacks;
  StoreOptions options = options_with_blocks();
  options.server.geometry.mature_space_count = 16;
  options.server.geometry.table_entries = 1'024;
  options.server.cleanup_percent = 10;
  options.server.cleanup_interval_ns = millisecond_ns;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    for (int round = 0; round < 3; ++round) {
      std::uint64_t keys = 0;
      const auto key_of_round = [round](std::uint64_t key) {
        return bytes_of(fmt::format("round {} key {}", round, key));
      };
      while (client.set(key_of_round(keys), Bytes(value_bytes)).answer == Answer::stored) ++keys;
      EXPECT_GT(keys, 300U) << "in round " << round;
      for (std::uint64_t key = 0; key < keys; ++key) {
        EXPECT_EQ(client.remove(key_of_round(key)).answer, Answer::deleted);
      }
      host.sleep_until(host.now_ns() + 20 * millisecond_ns);
    }
  });
  const StoreRun run = run_without_problems(store);
  EXPECT_EQ(run.state.contents.size(), 0U);
}

}  // namespace
}  // namespace falafel::engine_test
