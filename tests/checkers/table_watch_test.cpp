// Tests of the invariants of a changing table, on memories built by hand.
#include "checkers/table_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/checkers/memory.h"

namespace falafel::checkers {
namespace {

using testing::HasSubstr;

// A memory whose entries change step by step.
class WatchedTable {
 public:
  void change(std::uint64_t slot, Entry next) {
    watch_.on_changed(slot, next, memory_.view(), ++step_);
    memory_.set_entry(slot, next);
  }
  Entry put(std::uint64_t slot, const std::string& key) {
    const Entry entry = memory_.entry_to(memory_.add_container(key));
    change(slot, entry);
    return entry;
  }
  // Puts two keys of one chain into slots 1 and 2. The first one is deleted, and its entry is
  // locked. Returns the entry of the second one.
  Entry put_chain_with_a_hole() {
    const Entry first = put(1, memory_.key_at(1)).with_deleted();
    const Entry second = put(2, memory_.key_at(1, 1));
    change(1, first);
    change(1, first.with_locked());
    return second;
  }
  void empty(std::uint64_t slot) { change(slot, Entry().with_next_tag(30)); }

  void expect_unreachable_key_without(std::uint64_t slot) {
    expect_no_violation();
    empty(slot);
    expect("table.unreachable-key");
  }
  void expect_no_violation() const {
    EXPECT_EQ(watch_.judgement().verdict, Verdict::holds) << watch_.judgement().explanation;
  }
  void expect(const std::string& property) const {
    expect_violation(watch_.judgement(), property);
    EXPECT_EQ(watch_.judgement().step, step_);
  }

  Memory memory_;
  TableWatch watch_{memory_.geometry_.slot_count()};
  std::uint64_t step_ = 0;
};

TEST(TableWatch, AcceptsInsertionOverwriteDeletionAndMove) {
  WatchedTable table;
  const std::string key = table.memory_.key_at(1);
  table.put(1, key);
  table.put(1, key);
  table.put(2, table.memory_.key_at(1, 1));
  const Entry deleted = table.memory_.view().entry(1).with_deleted();
  table.change(1, deleted);
  table.change(1, deleted.with_next_tag(30));
  table.put(1, key);
  table.expect_no_violation();
  EXPECT_EQ(table.watch_.empty_entries(), 2U);
  EXPECT_FALSE(table.watch_.is_any_locked());
}

// The collector moves the container of slot 1 and sets the entry that `reference_to` makes.
void expect_of_collection(const std::function<std::uint32_t(Memory&, Entry, std::uint64_t)>& make,
                          const std::function<void(const WatchedTable&)>& expect) {
  WatchedTable table;
  const std::string key = table.memory_.key_at(1);
  const Entry before = table.put(1, key);
  const std::uint64_t copy = table.memory_.add_container(key);
  table.change(1, before.moved_to(make(table.memory_, before, copy)).with_next_tag(30));
  expect(table);
}

TEST(TableWatch, FindsACollectionThatLosesFingerprintAndSizeClass) {
  expect_of_collection(
      [](Memory& memory, Entry, std::uint64_t copy) { return memory.entry_to(copy).reference(); },
      [](const WatchedTable& table) { table.expect_no_violation(); });
  expect_of_collection(
      [](Memory& memory, Entry, std::uint64_t copy) { return memory.geometry_.to_units(copy); },
      [](const WatchedTable& table) { table.expect("table.wrong-reference"); });
}

TEST(TableWatch, FindsADeletionThatChangesTheFingerprint) {
  WatchedTable table;
  const Entry entry = table.put(1, table.memory_.key_at(1));
  table.change(1, entry.moved_to(entry.reference() ^ 0x8000'0000).with_deleted());
  table.expect("table.wrong-reference");
}

// An entry that moves takes its fingerprint with it, not that of the slot's former key.
TEST(TableWatch, FindsACleanupThatMixesUpFingerprints) {
  WatchedTable table;
  const Entry second = table.put_chain_with_a_hole();
  const Entry first = table.memory_.view().entry(1);
  constexpr std::uint32_t offset_mask = (1U << 21) - 1;
  const std::uint32_t mixed =
      (first.reference() & ~offset_mask) | (second.reference() & offset_mask);
  ASSERT_NE(mixed, second.reference());
  table.change(2, second.with_locked());
  table.expect_no_violation();
  table.change(1, second.moved_to(mixed).with_next_tag(30));
  table.expect("table.wrong-reference");
}

// The second key of a chain moves to the first one's slot, with one entry locked at a time.
TEST(TableWatch, AcceptsThatLockedEntriesAreRebound) {
  WatchedTable table;
  const Entry second = table.put_chain_with_a_hole();
  EXPECT_TRUE(table.watch_.is_any_locked());
  table.change(2, second.with_locked());
  table.change(1, second.with_next_tag(30));
  table.change(2, Entry());
  table.expect_no_violation();
}

TEST(TableWatch, FindsAnEntryOfAContainerThatDoesNotVerify) {
  WatchedTable table;
  const std::uint64_t offset = table.memory_.add_container(table.memory_.key_at(1));
  table.memory_.chunk_[offset + engine::container_header_bytes] ^= std::byte{1};
  table.change(1, table.memory_.entry_to(offset));
  table.expect("table.unreadable");
}

TEST(TableWatch, FindsASlotThatChangesItsKeyWithoutALock) {
  WatchedTable table;
  table.put(1, table.memory_.key_at(1));
  table.put(1, table.memory_.key_at(1, 1));
  table.expect("table.rebound-slot");
}

TEST(TableWatch, FindsAKeyInTwoSlots) {
  WatchedTable table;
  table.put(1, table.memory_.key_at(1));
  table.put(2, table.memory_.key_at(1));
  table.expect("table.duplicate-key");
  EXPECT_THAT(table.watch_.judgement().explanation, HasSubstr("slots 1 and 2"));
}

TEST(TableWatch, FindsAKeyThatIsUnlockedBeforeTheOtherEntryOfItIsLocked) {
  WatchedTable table;
  const Entry second = table.put_chain_with_a_hole();
  table.change(1, second.with_next_tag(30));
  table.expect("table.duplicate-key");
}

TEST(TableWatch, FindsAKeyThatIsStoredBehindAnEmptySlot) {
  WatchedTable table;
  table.put(2, table.memory_.key_at(1));
  table.expect("table.unreachable-key");
}

TEST(TableWatch, AcceptsALockedEmptySlotOnTheWay) {
  WatchedTable table;
  table.change(1, Entry().with_locked());
  table.put(2, table.memory_.key_at(1));
  table.expect_unreachable_key_without(1);
}

TEST(TableWatch, FindsASlotThatIsEmptiedInTheMiddleOfAChain) {
  WatchedTable table;
  table.put(3, table.memory_.key_at(3));
  table.put(0, table.memory_.key_at(3, 1));  // wraps around at the end of the table
  table.expect_unreachable_key_without(3);
}

TEST(TableWatch, SaysNothingOfDeletedKeysThatNoSearchReaches) {
  WatchedTable table;
  table.put(1, table.memory_.key_at(1));
  const Entry second = table.put(2, table.memory_.key_at(1, 1));
  table.change(2, second.with_deleted());
  table.empty(1);
  table.expect_no_violation();
}

TEST(TableWatch, BeginsAnew) {
  WatchedTable table;
  table.put(1, table.memory_.key_at(1));
  table.watch_.clear();
  EXPECT_EQ(table.watch_.empty_entries(), 4U);
  table.put(1, table.memory_.key_at(1, 1));
  table.expect_no_violation();
}

}  // namespace
}  // namespace falafel::checkers
