// Tests of the checker of repairs, on a table of eight entries.
#include "checkers/repairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/checkers/memory.h"

namespace falafel::checkers {
namespace {

constexpr std::uint32_t repairing_party = 3;
constexpr std::uint64_t repaired_slot = 1;
constexpr Entry occupied_entry = Entry(std::uint64_t{8} << 32);
constexpr Entry locked_entry = Entry(std::uint64_t{8} << 32 | 2);
constexpr Entry empty_entry = Entry(0);

Geometry geometry_of_eight() {
  Geometry eight = Memory().geometry_;
  eight.table_entries = 8;
  return eight;
}

class RepairsTest : public testing::Test {
 protected:
  // The key of the entry has the home slot 6, so searches pass slots 6, 7 and 0.
  void repair() {
    constexpr std::uint64_t hash = 8 * 5 + 6;
    if (repairs_.is_repair(repaired_slot, locked_entry, occupied_entry))
      repairs_.on_repaired(repairing_party, repaired_slot, hash, 9);
  }
  void change(std::uint64_t slot, Entry previous, Entry next,
              Repairs::Party party = Repairs::Party::server) {
    repairs_.on_changed(slot, previous, next, party, 9);
  }
  void lock(Repairs::Party party) { change(repaired_slot, occupied_entry, locked_entry, party); }
  void read_all(Entry entry) {
    for (std::uint64_t read = 0; read < 8; ++read) repairs_.on_read(repairing_party, read, entry);
  }
  void expect_holds() const {
    EXPECT_EQ(repairs_.judgement().verdict, Verdict::holds) << repairs_.judgement().explanation;
  }

  Repairs repairs_{geometry_of_eight()};
};

TEST_F(RepairsTest, HoldIfSearchesPassTheEntry) {
  lock(Repairs::Party::hostile);
  read_all(occupied_entry);
  for (const std::uint64_t beside : {1U, 2U, 5U})
    repairs_.on_read(repairing_party, beside, empty_entry);
  repair();
  expect_holds();
}

TEST_F(RepairsTest, LeaveNoKeyBehindAnEmptyEntry) {
  for (const std::uint64_t gap : {6U, 7U, 0U}) {
    repairs_ = Repairs(geometry_of_eight());
    lock(Repairs::Party::hostile);
    read_all(occupied_entry);
    repairs_.on_read(repairing_party, gap, empty_entry);
    repair();
    expect_violation(repairs_.judgement(), "repair.unreachable");
    EXPECT_THAT(repairs_.judgement().slots, testing::ElementsAre(repaired_slot, gap));
    EXPECT_EQ(repairs_.judgement().step, 9U);
  }
}

// Somebody may have stored a key there meanwhile.
TEST_F(RepairsTest, DependOnTheLastWordThatTheServerRead) {
  lock(Repairs::Party::hostile);
  read_all(empty_entry);
  read_all(occupied_entry);
  repairs_.on_read(repairing_party + 1, 7, empty_entry);
  repair();
  expect_holds();
}

// The cleanup removes its own locks, and has read the entries before it locked this one.
TEST_F(RepairsTest, ConcernLocksOfHostileClientsAlone) {
  read_all(empty_entry);
  lock(Repairs::Party::client);
  repair();
  lock(Repairs::Party::hostile);
  lock(Repairs::Party::client);
  repair();
  lock(Repairs::Party::hostile);
  repairs_.clear();
  read_all(empty_entry);
  repair();
  expect_holds();
}

TEST_F(RepairsTest, MayReplaceTheEntry) {
  lock(Repairs::Party::hostile);
  EXPECT_TRUE(repairs_.is_repair(repaired_slot, locked_entry, occupied_entry));
  EXPECT_FALSE(repairs_.is_repair(repaired_slot, locked_entry, Entry(std::uint64_t{9} << 32)));
  EXPECT_FALSE(repairs_.is_repair(repaired_slot, locked_entry, empty_entry));
  EXPECT_FALSE(repairs_.is_repair(repaired_slot, locked_entry, locked_entry));
}

// The server has locked two entries, and moved the second to the place of the first.
class MovedEntry : public RepairsTest {
 protected:
  static constexpr std::uint64_t hole = repaired_slot - 1;
  static constexpr Entry other_entry = Entry(std::uint64_t{16} << 32);

  MovedEntry() {
    change(hole, other_entry, other_entry.with_locked());
    lock(Repairs::Party::server);
    change(hole, other_entry.with_locked(), occupied_entry);
  }
};

TEST_F(MovedEntry, IsNotUnlockedInItsOldSlot) {
  change(repaired_slot, locked_entry, occupied_entry);
  expect_violation(repairs_.judgement(), "repair.moved-entry");
  EXPECT_THAT(repairs_.judgement().slots, testing::ElementsAre(repaired_slot));
  EXPECT_EQ(repairs_.judgement().step, 9U);
}

TEST_F(MovedEntry, GivesItsOldSlotToAnotherEntry) {
  change(repaired_slot, locked_entry, other_entry);
  change(repaired_slot, other_entry, other_entry.with_locked());
  change(repaired_slot, other_entry.with_locked(), other_entry);
  expect_holds();
}

// A hostile client has pointed two entries to one container.
TEST_F(MovedEntry, GivesItsOldSlotToAnotherEntryOfItsContainer) {
  change(repaired_slot + 1, occupied_entry, locked_entry);
  change(repaired_slot, locked_entry, occupied_entry);
  expect_holds();
}

TEST_F(MovedEntry, MayComeBackByAClient) {
  change(repaired_slot, locked_entry, occupied_entry, Repairs::Party::hostile);
  expect_holds();
}

TEST_F(MovedEntry, IsForgottenWithTheServer) {
  repairs_.clear();
  change(repaired_slot, locked_entry, occupied_entry);
  expect_holds();
}

TEST_F(RepairsTest, MayUnlockDeletedEntriesThatShareAContainer) {
  const Entry deleted_entry = occupied_entry.with_deleted();
  change(repaired_slot, deleted_entry, deleted_entry.with_locked());
  change(repaired_slot + 1, empty_entry, deleted_entry);
  change(repaired_slot, deleted_entry.with_locked(), deleted_entry);
  expect_holds();
}

// A collection may have freed the container of such an entry, and used its memory again.
TEST_F(RepairsTest, MayUnlockWhatAHostileClientHasLocked) {
  lock(Repairs::Party::hostile);
  change(repaired_slot + 1, empty_entry, occupied_entry);
  change(repaired_slot, locked_entry, occupied_entry);
  expect_holds();
}

TEST_F(RepairsTest, MayUnlockAnEntryThatNobodyMoved) {
  lock(Repairs::Party::server);
  change(repaired_slot, locked_entry, occupied_entry);
  expect_holds();
}

}  // namespace
}  // namespace falafel::checkers
