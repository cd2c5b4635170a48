// Full stores: which values can be overwritten, at what cost, and when the server notices that
// memory was freed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
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

StoreOptions options_of_full_semi_spaces(std::uint64_t regions) {
  StoreOptions options = options_of_full_blocks(engine::semi_space_count);
  options.server.geometry.mature_bytes = regions * full_block_bytes;
  return options;
}

Bytes full_key(std::uint64_t number) { return bytes_of(fmt::format("key {:06}", number)); }

// Returns the number of keys that fit.
std::uint64_t fill_memory(Client& client, std::size_t value_bytes) {
  std::uint64_t keys = 0;
  while (client.set(full_key(keys), Bytes(value_bytes)).answer == Answer::stored) ++keys;
  return keys;
}

// Overwrites keys at random. Returns how long the longest SET took.
std::uint64_t overwrite(fabric::Host& host, Client& client, std::uint64_t keys,
                        std::uint64_t count) {
  std::minstd_rand random(1);
  std::uint64_t longest_ns = 0;
  for (std::uint64_t number = 0; number < count; ++number) {
    const std::uint64_t call_ns = host.now_ns();
    EXPECT_EQ(client.set(full_key(random() % keys), Bytes(80)).answer, Answer::stored) << number;
    longest_ns = std::max(longest_ns, host.now_ns() - call_ns);
  }
  return longest_ns;
}

void run_without_problems(TestStore& store) {
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

// Values that can be overwritten

// Ends of blocks that are too short for a container are no reserve.
TEST(FullBlocks, CanBeOverwrittenWithValuesOfAnyLength) {
  for (const std::size_t value_bytes : {100U, 200U, 400U, 1'000U, 1'300U, 2'000U, 3'000U, 4'000U}) {
    fabric::FiberStackPool stacks;
    TestStore store(options_of_full_blocks(24), stacks);
    store.add_client([&](fabric::Host&, Client& client) {
      const std::uint64_t keys = fill_memory(client, value_bytes);
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

// Costs

// A region costs the copies of at most 64 blocks. A measurement examines all blocks.
TEST(FullBlocks, AreOverwrittenAtTheCostOfCopying) {
  for (const std::uint32_t blocks : {64U, 128U}) {
    fabric::FiberStackPool stacks;
    TestStore store(options_of_full_blocks(blocks), stacks);
    store.add_client([&](fabric::Host& host, Client& client) {
      const std::uint64_t keys = fill_memory(client, 80);
      const auto before = store.server()->inspect().statistics;
      overwrite(host, client, keys, 2 * keys);
      const auto after = store.server()->inspect().statistics;
      EXPECT_LE(after.regions_granted - before.regions_granted, 2 * keys / 30) << blocks;
      EXPECT_LE(after.containers_copied - before.containers_copied, 2 * keys * 64) << blocks;
      const std::uint64_t measured =
          (after.mature_measurements - before.mature_measurements) * blocks;
      EXPECT_LE(measured, 4 * (after.mature_collections - before.mature_collections)) << blocks;
    });
    run_without_problems(store);
  }
}

TEST(FullSemiSpaces, AreOverwrittenAtTheCostOfCopying) {
  fabric::FiberStackPool stacks;
  TestStore store(options_of_full_semi_spaces(128), stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    const std::uint64_t keys = fill_memory(client, 80);
    const auto before = store.server()->inspect().statistics;
    overwrite(host, client, keys, keys);
    const auto after = store.server()->inspect().statistics;
    EXPECT_LE(after.regions_granted - before.regions_granted, keys / 30);
    EXPECT_LE(after.mature_collections - before.mature_collections, 40U);
    EXPECT_LE(after.mature_measurements - before.mature_measurements, 80U);
  });
  run_without_problems(store);
}

// A SET at nine tenths takes a few round trips of virtual time, too.
TEST(FullBlocks, AreOverwrittenAtAHundredthOfTheRateAtLeast) {
  for (const std::uint32_t blocks : {32U, 128U}) {
    fabric::FiberStackPool stacks;
    TestStore store(options_of_full_blocks(blocks), stacks);
    store.add_client([&](fabric::Host& host, Client& client) {
      constexpr std::uint64_t count = 2'000;
      std::uint64_t keys = blocks * full_block_bytes / 120 * 9 / 10;
      for (std::uint64_t key = 0; key < keys; ++key) client.set(full_key(key), Bytes(80));
      const std::uint64_t start_ns = host.now_ns();
      overwrite(host, client, keys, count);
      const std::uint64_t usual_ns = host.now_ns() - start_ns;
      while (client.set(full_key(keys), Bytes(80)).answer == Answer::stored) ++keys;
      const std::uint64_t full_ns = host.now_ns();
      EXPECT_LE(overwrite(host, client, keys, count), second_ns) << blocks;
      EXPECT_LE(host.now_ns() - full_ns, 100 * usual_ns) << blocks;
    });
    run_without_problems(store);
  }
}

// One client's requests for new keys wait for measurements; the other one's do not.
TEST(FullBlocks, AreOverwrittenWhileOthersWaitToStore) {
  fabric::FiberStackPool stacks;
  StoreOptions options = options_of_full_blocks(64);
  options.server.measurement_interval_ns = 100 * millisecond_ns;
  TestStore store(options, stacks);
  std::uint64_t keys = 0;
  bool is_over = false;
  store.add_client([&](fabric::Host& host, Client& client) {
    keys = fill_memory(client, 80);
    const std::uint64_t start_ns = host.now_ns();
    overwrite(host, client, keys, 300);
    EXPECT_LE(host.now_ns() - start_ns, 5 * second_ns);
    is_over = true;
    client.disconnect();
  });
  store.add_client([&](fabric::Host& host, Client& client) {
    while (keys == 0) host.sleep_until(host.now_ns() + millisecond_ns);
    while (!is_over) {
      const std::uint64_t call_ns = host.now_ns();
      EXPECT_EQ(client.set(bytes_of("new"), Bytes(80)).answer, Answer::out_of_memory);
      EXPECT_LE(host.now_ns() - call_ns, second_ns);
    }
  });
  run_without_problems(store);
}

TEST(FullBlocks, AreOverwrittenBySeveralClients) {
  fabric::FiberStackPool stacks;
  TestStore store(options_of_full_blocks(64), stacks);
  std::uint64_t keys = 0;
  for (int party = 0; party < 4; ++party) {
    store.add_client([&, party](fabric::Host& host, Client& client) {
      if (party == 0) keys = fill_memory(client, 80);
      while (keys == 0) host.sleep_until(host.now_ns() + millisecond_ns);
      EXPECT_LE(overwrite(host, client, keys, 500), second_ns);
      client.disconnect();
    });
  }
  run_without_problems(store);
}

// The key is deleted while a SET that would overwrite it waits for the reserve: the SET then needs
// memory for any key.
TEST(FullBlocks, TakeKeysThatVanishFromASetAsNew) {
  fabric::FiberStackPool stacks;
  StoreOptions options = options_of_full_blocks(16);
  options.server.cleanup_interval_ns = 100 * second_ns;
  TestStore store(options, stacks);
  std::uint64_t keys = 0;
  bool is_over = false;
  store.add_client([&](fabric::Host& host, Client& client) {
    keys = fill_memory(client, 80);
    for (std::uint64_t count = 0; count < 400; ++count) {
      const Answer answer = client.set(full_key(0), Bytes(80)).answer;
      EXPECT_TRUE(answer == Answer::stored || answer == Answer::out_of_memory);
    }
    is_over = true;
    EXPECT_LE(host.now_ns(), 100 * second_ns);
  });
  store.add_client([&](fabric::Host& host, Client& client) {
    while (keys == 0) host.sleep_until(host.now_ns() + millisecond_ns);
    while (!is_over) client.remove(full_key(0));
  });
  run_without_problems(store);
}

// Memory that was freed

// The interval between measurements is so long that only a report leads to one.
void expect_room_after_deletes(StoreOptions options, bool by_another) {
  fabric::FiberStackPool stacks;
  options.server.measurement_interval_ns = second_ns / 2;
  options.server.cleanup_interval_ns = 100 * second_ns;
  TestStore store(options, stacks);
  std::uint64_t keys = 0;
  bool is_deleted = false;
  bool is_over = false;
  const auto remove_half = [&](Client& client) {
    for (std::uint64_t key = 0; key < keys; key += 2) client.remove(full_key(key));
    is_deleted = true;
  };
  if (by_another) {
    store.add_client([&](fabric::Host& host, Client& client) {
      while (keys == 0) host.sleep_until(host.now_ns() + millisecond_ns);
      remove_half(client);
      while (!is_over) host.sleep_until(host.now_ns() + millisecond_ns);
    });
  }
  store.add_client([&](fabric::Host& host, Client& client) {
    const std::uint64_t fitted = fill_memory(client, 400);
    EXPECT_EQ(client.set(full_key(fitted), Bytes(400)).answer, Answer::out_of_memory);
    keys = fitted;
    if (!by_another) remove_half(client);
    while (!is_deleted) host.sleep_until(host.now_ns() + millisecond_ns);
    host.sleep_until(host.now_ns() + millisecond_ns);  // for the report
    EXPECT_EQ(client.set(bytes_of("new"), Bytes(400)).answer, Answer::stored);
    is_over = true;
  });
  run_without_problems(store);
}

TEST(FullBlocks, HaveRoomAsSoonAsKeysAreDeleted) {
  expect_room_after_deletes(options_of_full_blocks(24), false);
  expect_room_after_deletes(options_of_full_blocks(24), true);
}

TEST(FullSemiSpaces, HaveRoomAsSoonAsKeysAreDeleted) {
  expect_room_after_deletes(options_of_full_semi_spaces(12), false);
  expect_room_after_deletes(options_of_full_semi_spaces(12), true);
}

}  // namespace
}  // namespace falafel::engine_test
