// The keys of a process: look-up, memory use, and reuse.
#include "fabric/shm/key_table.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <memory>

#include "fabric/shm/arena.h"

namespace falafel::shm {
namespace {

constexpr std::uint64_t limit_bytes = 1U << 20U;
constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t domain = 7;
constexpr KeyTable::Region region{.domain = domain,
                                  .block = fixed_part_bytes,
                                  .length_bytes = 64,
                                  .access = {.remote_read = true}};

class KeyTableTest : public testing::Test {
 protected:
  Lookup::Result look_up(std::uint32_t key) {
    return cache_.look_up(key, 0, 8, rights::remote_read).result;
  }

  // The memory that the file uses.
  std::uint64_t memory_bytes() const {
    struct stat status {};
    EXPECT_EQ(fstat(arena_->file().get(), &status), 0);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
  }

  std::unique_ptr<Arena> arena_ = Arena::create(limit_bytes, false, {1, 2}).value();
  KeyTable keys_{*arena_};
  KeyCache cache_{*arena_->mapping(), domain};
};

TEST_F(KeyTableTest, TakesMemoryAsKeysAreGiven) {
  const std::uint64_t bytes_at_first = memory_bytes();
  EXPECT_EQ(bytes_at_first, key_table_offset);
  constexpr std::uint64_t pages = 3;
  for (std::uint64_t given = 0; given < pages * page_bytes / sizeof(KeyEntry); ++given) {
    ASSERT_EQ(look_up(keys_.add(region).value()), Lookup::Result::found);
  }
  EXPECT_EQ(memory_bytes(), bytes_at_first + pages * page_bytes);
}

TEST_F(KeyTableTest, KeysThatWereNeverGivenTakeNone) {
  const std::uint32_t given = keys_.add(region).value();
  const std::uint64_t bytes = memory_bytes();
  for (const std::uint32_t index : {1U, 64U, max_keys - 1}) {
    EXPECT_EQ(look_up(1U << key_index_bits | index), Lookup::Result::unknown_key) << index;
  }
  EXPECT_EQ(look_up(0), Lookup::Result::unknown_key);
  EXPECT_EQ(memory_bytes(), bytes);
  EXPECT_EQ(look_up(given), Lookup::Result::found);
}

TEST_F(KeyTableTest, AnIndexIsUsedAgainAfterAllOthers) {
  const std::uint32_t first = keys_.add(region).value();
  ASSERT_EQ(look_up(first), Lookup::Result::found);
  keys_.remove(first);
  EXPECT_EQ(look_up(first), Lookup::Result::unknown_key);
  for (std::uint32_t others = 1; others < max_keys; ++others) {
    const std::uint32_t key = keys_.add(region).value();
    ASSERT_NE(key % max_keys, first % max_keys) << others;
    keys_.remove(key);
  }
  const std::uint32_t again = keys_.add(region).value();
  EXPECT_EQ(again % max_keys, first % max_keys);
  EXPECT_NE(again, first);
  EXPECT_EQ(look_up(first), Lookup::Result::unknown_key);
  EXPECT_EQ(look_up(again), Lookup::Result::found);
}

TEST_F(KeyTableTest, TellsThatAllAreInUse) {
  std::uint32_t last = 0;
  for (std::uint32_t given = 0; given < max_keys; ++given) last = keys_.add(region).value();
  const auto refused = keys_.add(region);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, fabric::ErrorCode::out_of_memory);
  EXPECT_EQ(refused.error().detail, "all 65536 keys of the process are in use");
  keys_.remove(last);
  EXPECT_TRUE(keys_.add(region).has_value());
}

}  // namespace
}  // namespace falafel::shm
