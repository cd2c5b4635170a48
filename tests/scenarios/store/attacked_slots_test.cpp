// A hostile client may have damaged the keys beside an attacked slot, and no others.
#include "tools/scenarios/store/attacked_slots.h"

#include <gtest/gtest.h>

namespace falafel::store_scenario {
namespace {

using engine::Entry;

constexpr Entry occupied = Entry{}.pointing_to(40);

// Slots 2, 3 and 4 were occupied at some time, and so were 8, 9 and 0, across the end of the table.
AttackedSlots two_stretches() {
  AttackedSlots slots({.table_entries = 10});
  for (const std::uint64_t slot : {2U, 3U, 4U, 8U, 9U, 0U}) {
    slots.on_changed(slot, {}, occupied, false);
    slots.on_changed(slot, occupied, Entry{}.with_next_tag(30), false);  // empty again
  }
  return slots;
}

TEST(AttackedSlots, TouchesNothingWithoutAnAttack) {
  const AttackedSlots slots = two_stretches();
  EXPECT_FALSE(slots.is_any());
  for (std::uint64_t home = 0; home < 10; ++home) EXPECT_FALSE(slots.may_have_damaged(home));
}

TEST(AttackedSlots, TouchesTheStretchOfTheSlot) {
  AttackedSlots slots = two_stretches();
  slots.on_changed(3, occupied, occupied.with_locked(), true);
  EXPECT_TRUE(slots.is_any());
  EXPECT_TRUE(slots.is_attacked(3));
  EXPECT_FALSE(slots.is_attacked(2));
  for (std::uint64_t home = 0; home < 10; ++home) {
    EXPECT_EQ(slots.may_have_damaged(home), home >= 2 && home <= 4) << home;
  }
}

TEST(AttackedSlots, TouchesAStretchRoundTheTablesEnd) {
  AttackedSlots slots = two_stretches();
  slots.on_changed(9, occupied, Entry{}, true);
  for (std::uint64_t home = 0; home < 10; ++home) {
    EXPECT_EQ(slots.may_have_damaged(home), home >= 8 || home == 0) << home;
  }
}

// An attacked empty slot connects the stretches on both sides.
TEST(AttackedSlots, TouchesWhatASlotJoins) {
  AttackedSlots slots = two_stretches();
  slots.on_changed(1, Entry{}, Entry{}.with_locked(), true);
  for (const std::uint64_t home : {8U, 9U, 0U, 1U, 2U, 3U, 4U})
    EXPECT_TRUE(slots.may_have_damaged(home));
  for (const std::uint64_t home : {5U, 6U, 7U}) EXPECT_FALSE(slots.may_have_damaged(home));
}

// Slots 10 and 11 are the first ones of the second table, which has 20 entries.
TEST(AttackedSlots, TouchesTheStretchInEachTable) {
  AttackedSlots slots({.table_entries = 10, .most_tables = 2});
  slots.on_changed(10, {}, occupied, false);
  slots.on_changed(11, occupied, occupied.with_locked(), true);
  for (std::uint64_t hash = 0; hash < 20; ++hash) {
    EXPECT_EQ(slots.may_have_damaged(hash), hash == 0 || hash == 1) << hash;
  }
}

TEST(AttackedSlots, TouchesEverythingWithAnotherOffset) {
  AttackedSlots slots = two_stretches();
  slots.on_changed(3, occupied, occupied.pointing_to(41), true);
  for (std::uint64_t home = 0; home < 10; ++home) EXPECT_TRUE(slots.may_have_damaged(home));
}

}  // namespace
}  // namespace falafel::store_scenario
