// Tests of the checker of scans beside damage, on a store of four slots: a scan of fiber 5 begins
// when slot 1 has a damaged container.
#include "checkers/hidden_damage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "tests/checkers/memory.h"

namespace falafel::checkers {
namespace {

constexpr fabric::FiberId scanning_fiber = 5;
constexpr std::uint64_t damaged_slot = 1;

class HiddenDamageTest : public testing::Test {
 protected:
  HiddenDamageTest() {
    memory_.put(0, "intact");
    offset_ = memory_.add_container("damaged");
    memory_.set_entry(damaged_slot, memory_.entry_to(offset_));
  }

  void flip(std::uint64_t position) { memory_.chunk_[offset_ + position] ^= std::byte{1}; }
  void begin_scan() { damage_.on_scan_called(scanning_fiber, memory_.view()); }
  void end_scan(bool is_complete = true) {
    damage_.on_scan_returned(scanning_fiber, {.client = 7, .call_time = 100}, is_complete,
                             memory_.view(), 9);
  }
  void expect_holds() const {
    EXPECT_EQ(damage_.judgement().verdict, Verdict::holds) << damage_.judgement().explanation;
    EXPECT_FALSE(damage_.is_watching());
  }

  Memory memory_;
  std::uint64_t offset_ = 0;
  HiddenDamage damage_;
};

TEST_F(HiddenDamageTest, ObjectsToEachKindOfDamage) {
  const std::uint64_t key = engine::container_header_bytes;
  for (const std::uint64_t position : {std::uint64_t{0}, key, key + 7}) {
    SCOPED_TRACE(position);
    damage_ = HiddenDamage();
    flip(position);
    begin_scan();
    EXPECT_TRUE(damage_.is_watching());
    end_scan();
    expect_violation(damage_.judgement(), "scan.hidden-damage");
    EXPECT_THAT(damage_.judgement().slots, testing::ElementsAre(damaged_slot));
    EXPECT_THAT(damage_.judgement().calls, testing::ElementsAre(100));
    flip(position);
  }
}

TEST_F(HiddenDamageTest, ObjectsIfNoContainerCanBeThere) {
  memory_.set_entry(damaged_slot, Entry().pointing_to(3));
  begin_scan();
  end_scan();
  expect_violation(damage_.judgement(), "scan.hidden-damage");
}

TEST_F(HiddenDamageTest, HoldsWithoutDamage) {
  begin_scan();
  end_scan();
  expect_holds();
}

TEST_F(HiddenDamageTest, HoldsIfTheScanTellsOrIsAbandonedOrLosesItsServer) {
  flip(0);
  begin_scan();
  end_scan(false);
  expect_holds();
  begin_scan();
  damage_.on_scan_abandoned(scanning_fiber);
  end_scan();
  expect_holds();
  begin_scan();
  damage_.on_server_died();
  end_scan();
  expect_holds();
}

TEST_F(HiddenDamageTest, HoldsIfTheContainerWasIntactMeanwhile) {
  flip(0);
  begin_scan();
  flip(0);
  damage_.on_memory(memory_.view());
  flip(0);
  end_scan();
  expect_holds();
}

TEST_F(HiddenDamageTest, HoldsIfTheEntryHasChangedMeanwhile) {
  flip(0);
  const Entry damaged = memory_.entry_to(offset_);
  begin_scan();
  memory_.set_entry(damaged_slot, damaged.with_next_tag(engine::most_tag_bits));
  damage_.on_memory(memory_.view());
  memory_.set_entry(damaged_slot, damaged);
  end_scan();
  expect_holds();
}

TEST_F(HiddenDamageTest, HoldsForEntriesThatAScanDoesNotFollow) {
  flip(0);
  const Entry damaged = memory_.entry_to(offset_);
  for (const Entry entry : {Entry(), damaged.with_deleted(), damaged.with_locked()}) {
    memory_.set_entry(damaged_slot, entry);
    begin_scan();
    end_scan();
    expect_holds();
  }
}

TEST_F(HiddenDamageTest, HoldsForLengthsThatNoContainerMayHave) {
  memory_.write_container(offset_, "damaged", std::string(memory_.geometry_.region_bytes, 'v'));
  flip(engine::container_header_bytes);
  begin_scan();
  end_scan();
  expect_holds();
}

}  // namespace
}  // namespace falafel::checkers
