// Tests of the checkers for the server's memory, on memories built by hand: a correct one, and some
// with one fault each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "checkers/collector.h"
#include "checkers/memory_view.h"
#include "checkers/table.h"
#include "engine/layout/container.h"
#include "tests/checkers/memory.h"

namespace falafel::checkers {
namespace {

using engine::RegionState;
using testing::HasSubstr;

TEST(MemoryCheckers, AcceptAStoreAtRest) {
  Memory memory;
  memory.put(1, memory.key_at(1, 0));
  memory.put(2, memory.key_at(1, 1));
  memory.put(3, memory.key_at(1, 2));
  memory.put(0, memory.key_at(2));  // wraps around at the end of the table
  EXPECT_EQ(check_table(memory.view()).verdict, Verdict::holds);
  EXPECT_EQ(check_collector(memory.view()).verdict, Verdict::holds);
  EXPECT_EQ(read_contents(memory.view()).size(), 4U);
}

TEST(MemoryCheckers, DeletedKeysAreNotContents) {
  Memory memory;
  const std::string key = memory.key_at(1);
  memory.set_entry(1, memory.entry_to(memory.add_container(key)).with_deleted());
  EXPECT_EQ(check_table(memory.view()).verdict, Verdict::holds);
  EXPECT_TRUE(read_contents(memory.view()).empty());
}

// By hand, from docs/store-layout.md.
TEST(ExpectedReference, HasFingerprintSizeClassAndOffset) {
  constexpr std::uint64_t hash = 0xa7ff'ffff'ffff'ffff;
  const Geometry geometry = Memory().geometry_;  // 8 bits, 3 bits, units of 8 bytes
  const auto with = [&](std::uint64_t size_class) {
    return static_cast<std::uint32_t>(0xa7U << 24 | size_class << 21 | 56);
  };
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> classes{
      {24, 0}, {64, 0}, {65, 1}, {128, 1}, {129, 2}, {4'096, 6}, {4'097, 7}, {1U << 20, 7}};
  for (const auto& [bytes, size_class] : classes) {
    EXPECT_EQ(expected_reference(geometry, 448, hash, bytes), with(size_class)) << bytes;
  }
  Geometry plain = geometry;
  plain.fingerprint_bits = 0;
  plain.size_class_bits = 0;
  EXPECT_EQ(expected_reference(plain, 448, hash, 100), 56U);
}

TEST(TableChecker, FindsALockLeftBehind) {
  Memory memory;
  memory.set_entry(3, Entry().with_locked());
  expect_violation(check_table(memory.view()), "table.locked");
}

TEST(TableChecker, FindsAKeyTwice) {
  Memory memory;
  const std::string key = memory.key_at(1);
  memory.put(1, key);
  memory.put(2, key);
  const Judgement judgement = check_table(memory.view());
  expect_violation(judgement, "table.duplicate-key");
  EXPECT_THAT(judgement.explanation, HasSubstr(key));
}

TEST(TableChecker, FindsAKeyThatNoSearchReaches) {
  Memory memory;
  memory.put(3, memory.key_at(1));
  expect_violation(check_table(memory.view()), "table.unreachable-key");
}

TEST(TableChecker, FindsAContainerThatDoesNotVerify) {
  Memory memory;
  const std::uint64_t offset = memory.add_container(memory.key_at(1));
  memory.set_entry(1, memory.entry_to(offset));
  memory.chunk_[offset + engine::container_header_bytes] ^= std::byte{1};
  expect_violation(check_table(memory.view()), "table.unreadable");
}

TEST(TableChecker, FindsAnEntryWithAnotherFingerprint) {
  Memory memory;
  memory.put(1, memory.key_at(1));
  EXPECT_EQ(check_table(memory.view()).verdict, Verdict::holds);
  const Entry entry = memory.view().entry(1);
  memory.set_entry(1, entry.moved_to(entry.reference() ^ 0x8000'0000));
  expect_violation(check_table(memory.view()), "table.wrong-reference");
  memory.set_entry(1, entry.with_deleted());
  EXPECT_EQ(check_table(memory.view()).verdict, Verdict::holds);
  memory.set_entry(
      1, entry.moved_to(memory.geometry_.to_units(memory.geometry_.to_offset(entry.reference()))));
  expect_violation(check_table(memory.view()), "table.wrong-reference");
}

TEST(TableChecker, FindsAnEntryWithAnotherSizeClass) {
  Memory memory;
  memory.set_entry(1,
                   memory.entry_to(memory.add_container(memory.key_at(1), std::string(60, 'v'))));
  EXPECT_EQ(check_table(memory.view()).verdict, Verdict::holds);
  const Entry entry = memory.view().entry(1);
  ASSERT_EQ(engine::References(memory.geometry_).most_bytes(entry), 128);
  for (const int step : {-1, 1}) {
    memory.set_entry(
        1, entry.moved_to(entry.reference() + static_cast<std::uint32_t>(step * (1 << 21))));
    expect_violation(check_table(memory.view()), "table.wrong-reference");
  }
}

TEST(CollectorChecker, FindsAnEntryIntoAFreeRegion) {
  Memory memory;
  const std::uint64_t offset = memory.geometry_.region_offset(1);
  memory.write_container(offset, memory.key_at(1), "value");
  memory.set_entry(1, memory.entry_to(offset));
  expect_violation(check_collector(memory.view()), "collector.dangling-entry");
  memory.regions_[1].state = RegionState::waiting;
  const Entry entry = memory.view().entry(1);
  expect_violation(check_entries(memory.view(), 3, Entry()), "collector.dangling-entry");
  EXPECT_EQ(check_entries(memory.view(), 1, Entry()).verdict, Verdict::holds);
  expect_violation(check_entries(memory.view(), 1, entry), "collector.dangling-entry");
  memory.regions_[1].state = RegionState::collecting;
  EXPECT_EQ(check_entries(memory.view(), 1, entry).verdict, Verdict::holds);
}

TEST(CollectorChecker, FindsAnEntryBeyondWhatIsInUse) {
  Memory memory;
  memory.put(1, memory.key_at(1));
  memory.mature_spaces_[0].used_bytes = 0;
  expect_violation(check_collector(memory.view()), "collector.dangling-entry");
}

TEST(CollectorChecker, FindsAnEntryIntoTheTable) {
  Memory memory;
  memory.set_entry(1, Entry().pointing_to(1));
  expect_violation(check_collector(memory.view()), "collector.dangling-entry");
}

TEST(CollectorChecker, FindsAContainerInTwoEntries) {
  Memory memory;
  const Entry entry = memory.entry_to(memory.add_container(memory.key_at(1)));
  memory.set_entry(1, entry);
  memory.set_entry(2, entry);
  expect_violation(check_collector(memory.view()), "collector.overlap");
}

// A value may contain the bytes of a container, which then verifies like the one around it.
TEST(CollectorChecker, FindsContainersThatOverlap) {
  Memory memory;
  std::string inner(32, '\0');
  const std::string key = "two";
  engine::write_container(bytes_of(key), {}, std::as_writable_bytes(std::span(inner)));
  const std::string outer_key(8, 'o');  // the value begins at a whole unit
  const std::uint64_t offset = memory.add_container(outer_key, inner);
  memory.set_entry(1, memory.entry_to(offset));
  EXPECT_EQ(check_collector(memory.view()).verdict, Verdict::holds);
  memory.set_entry(2, memory.entry_to(offset + engine::container_header_bytes + 8));
  expect_violation(check_collector(memory.view()), "collector.overlap");
}

TEST(CollectorChecker, FindsARegionThatNobodyHas) {
  for (const RegionState state : {RegionState::granted, RegionState::released,
                                  RegionState::collecting, RegionState::waiting}) {
    Memory memory;
    memory.regions_[0].state = state;
    expect_violation(check_collector(memory.view()), "collector.lost-memory");
  }
}

TEST(CollectorChecker, FindsAMatureSpaceThatIsNotGivenBack) {
  Memory memory;
  memory.mature_spaces_[1].waiting = true;
  expect_violation(check_collector(memory.view()), "collector.lost-memory");
  memory.mature_spaces_[1] = {.active = false, .waiting = false, .used_bytes = 64};
  expect_violation(check_collector(memory.view()), "collector.lost-memory");
}

}  // namespace
}  // namespace falafel::checkers
