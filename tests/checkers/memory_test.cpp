// The checkers of the server's memory, on memories built by hand: a good one, and ones with a single fault
// each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "checkers/collector.h"
#include "checkers/memory_view.h"
#include "checkers/table.h"
#include "engine/layout/container.h"

namespace falafel::checkers {
namespace {

using engine::Entry;
using engine::Geometry;
using engine::RegionState;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// A store at rest with four slots, two regions and two mature spaces.
class Memory {
 public:
  Memory() : chunk_(geometry_.chunk_bytes()), regions_(2), mature_spaces_(2) {
    mature_spaces_[0].active = true;
  }

  MemoryView view() const {
    return {.geometry = geometry_,
            .hash_key = hash_key_,
            .chunk = chunk_,
            .regions = regions_,
            .mature_spaces = mature_spaces_};
  }

  std::uint64_t home(const std::string& key) const {
    return engine::home_slot(bytes_of(key), hash_key_, geometry_.table_entries);
  }
  // A key whose home is that slot.
  std::string key_at(std::uint64_t slot, int which = 0) const {
    for (int number = 0;; ++number) {
      const std::string key = "key " + std::to_string(number);
      if (home(key) == slot && which-- == 0) return key;
    }
  }

  // Appends a container to the active mature space.
  std::uint64_t add_container(const std::string& key, const std::string& value = "value") {
    const std::uint64_t offset = geometry_.mature_offset(0) + mature_spaces_[0].used_bytes;
    write_container(offset, key, value);
    mature_spaces_[0].used_bytes +=
        geometry_.round_up_to_unit(engine::container_bytes(key.size(), value.size()));
    return offset;
  }
  void write_container(std::uint64_t offset, const std::string& key, const std::string& value) {
    engine::write_container(bytes_of(key), bytes_of(value), std::span(chunk_).subspan(offset));
  }
  Entry entry_to(std::uint64_t offset) const {
    return Entry().pointing_to(geometry_.to_units(offset));
  }
  void set_entry(std::uint64_t slot, Entry entry) {
    const std::uint64_t word = entry.word();
    std::memcpy(chunk_.data() + geometry_.entry_offset(slot), &word, sizeof word);
  }
  void put(std::uint64_t slot, const std::string& key) {
    set_entry(slot, entry_to(add_container(key)));
  }

  Geometry geometry_{
      .table_entries = 4, .region_bytes = 64, .region_count = 2, .mature_bytes = 512};
  engine::HashKey hash_key_{};
  std::vector<std::byte> chunk_;
  std::vector<engine::RegionInspection> regions_;
  std::vector<engine::MatureSpaceInspection> mature_spaces_;
};

void expect_violation(const Judgement& judgement, const std::string& property) {
  EXPECT_EQ(judgement.verdict, Verdict::violated);
  EXPECT_EQ(judgement.property, property);
  EXPECT_FALSE(judgement.explanation.empty());
}

TEST(MemoryCheckers, AcceptAStoreAtRest) {
  Memory memory;
  memory.put(1, memory.key_at(1, 0));
  memory.put(2, memory.key_at(1, 1));
  memory.put(3, memory.key_at(1, 2));
  memory.put(0, memory.key_at(2));  // round the table's end
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

TEST(CollectorChecker, FindsAnEntryIntoAFreeRegion) {
  Memory memory;
  const std::uint64_t offset = memory.geometry_.region_offset(1);
  memory.write_container(offset, memory.key_at(1), "value");
  memory.set_entry(1, memory.entry_to(offset));
  expect_violation(check_collector(memory.view()), "collector.dangling-entry");
  memory.regions_[1].state = RegionState::waiting;
  expect_violation(check_entry(memory.view(), 1), "collector.dangling-entry");
  memory.regions_[1].state = RegionState::collecting;
  EXPECT_EQ(check_entry(memory.view(), 1).verdict, Verdict::holds);
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

// A value can hold the bytes of a container, which then verifies as well as the one around it.
TEST(CollectorChecker, FindsContainersThatOverlap) {
  Memory memory;
  std::string inner(32, '\0');
  const std::string key = "two";
  engine::write_container(bytes_of(key), {}, std::as_writable_bytes(std::span(inner)));
  const std::string outer_key(8, 'o');  // so that the value begins at a whole unit
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
