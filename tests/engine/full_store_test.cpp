// Full stores: which values can be overwritten, and when the server notices that memory was freed.
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

void run_without_problems(TestStore& store) {
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

// Which values

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
