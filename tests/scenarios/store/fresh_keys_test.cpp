// Keys that a hostile client may have damaged are judged again once they are fresh.
#include "tools/scenarios/store/fresh_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checkers/memory_view.h"
#include "engine/layout/container.h"
#include "engine/layout/key_hash.h"
#include "fabric/text.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {
namespace {

using checkers::Operation;
using checkers::OperationKind;

class FreshKeysTest : public testing::Test {
 protected:
  FreshKeysTest()
      : scenario_(with_one_key()),
        fresh_(scenario_),
        chunk_(scenario_.geometry.chunk_bytes()),
        regions_(1),
        spaces_(2),
        table_(scenario_.geometry.slot_count()) {}

  static Scenario with_one_key() {
    Scenario scenario;
    scenario.geometry = {.table_entries = 8, .region_bytes = 256, .region_count = 1};
    scenario.attacks = {{.kind = AttackKind::empty_entry}};
    ClientPlan plan;
    plan.operations = {{.kind = store_scenario::OperationKind::set, .key = 0}};
    scenario.clients = {plan};
    return scenario;
  }

  // The key's entry appears in a slot, or vanishes.
  void change(bool is_there, bool by_hostile, std::uint64_t time, std::uint64_t slot = 0) {
    engine::Entry entry;
    if (is_there) {
      const std::uint64_t offset = scenario_.geometry.region_offset(0);
      engine::write_container(fabric::bytes_of(key_), {}, std::span(chunk_).subspan(offset));
      entry = entry.pointing_to(checkers::expected_reference(
          scenario_.geometry, offset, engine::hash_of(fabric::bytes_of(key_), scenario_.hash_key),
          engine::container_bytes(key_.size(), 0)));
    }
    table_.on_changed(slot, entry, view(), time);
    fresh_.on_changed(table_, slot, by_hostile, time);
  }

  // The server locks an empty entry, or unlocks it.
  void lock(bool is_locked, std::uint64_t time, std::uint64_t slot) {
    const engine::Entry entry = is_locked ? engine::Entry{}.with_locked() : engine::Entry{};
    table_.on_changed(slot, entry, view(), time);
    fresh_.on_changed(table_, slot, false, time);
  }

  checkers::MemoryView view() const {
    return {.geometry = scenario_.geometry,
            .hash_key = scenario_.hash_key,
            .chunk = chunk_,
            .regions = regions_,
            .mature_spaces = spaces_};
  }

  // The call times of the operations that are judged.
  std::vector<std::uint64_t> judged() const {
    std::vector<std::uint64_t> times;
    for (const Operation& operation : fresh_.operations_since(key_, history_)) {
      times.push_back(operation.call_time);
    }
    return times;
  }

  void add(std::uint64_t call_time, std::uint64_t return_time) {
    history_.push_back(
        {.kind = OperationKind::set,
         .answer = return_time == 0 ? checkers::Answer::indeterminate : checkers::Answer::stored,
         .key = key_,
         .value = "value",
         .call_time = call_time,
         .return_time = return_time});
  }

  const std::string key_ = key_name(0);
  const Scenario scenario_;
  FreshKeys fresh_;
  std::vector<std::byte> chunk_;
  std::vector<engine::RegionInspection> regions_;
  std::vector<engine::MatureSpaceInspection> spaces_;
  checkers::TableWatch table_;
  std::vector<Operation> history_;
};

TEST_F(FreshKeysTest, AreJudgedSinceNoEntryHasThem) {
  change(true, true, 10);
  change(false, false, 20);
  change(true, false, 23);
  add(5, 8);
  add(15, 17);
  add(22, 24);
  EXPECT_THAT(judged(), testing::ElementsAre(22));
}

TEST_F(FreshKeysTest, AreNotThoseThatAlwaysHaveAnEntry) {
  change(true, true, 10);
  change(true, false, 20);
  add(22, 24);
  EXPECT_EQ(judged().size(), 0U);
}

// The entry in slot 1 may have been that of another key, whose container was there before.
TEST_F(FreshKeysTest, AreNotThoseWhoseContainerAnotherEntryPointsTo) {
  change(true, true, 10, 1);
  change(true, false, 15);
  change(false, false, 17, 1);
  change(false, false, 20);
  add(22, 24);
  EXPECT_EQ(judged().size(), 0U);
}

TEST_F(FreshKeysTest, NoticeAContainerThatTwoEntriesPointTo) {
  EXPECT_FALSE(fresh_.has_shared_container());
  change(true, true, 10, 1);
  EXPECT_FALSE(fresh_.has_shared_container());
  change(true, false, 15);
  EXPECT_TRUE(fresh_.has_shared_container());
}

// A cleanup had read the entry that the client emptied, and moves it to the place that it has
// locked.
TEST_F(FreshKeysTest, AreNotFreshWhileTheServerMayMoveAnEntry) {
  change(true, false, 5);
  lock(true, 8, 1);
  change(false, true, 10);
  change(true, false, 20, 1);
  add(22, 24);
  EXPECT_EQ(judged().size(), 0U);
  change(false, false, 30, 1);
  add(32, 34);
  EXPECT_THAT(judged(), testing::ElementsAre(32));
}

TEST_F(FreshKeysTest, AreNotFreshAfterAnotherAttack) {
  change(true, true, 10);
  change(false, false, 20);
  change(true, true, 30);
  add(22, 24);
  EXPECT_EQ(judged().size(), 0U);
}

TEST_F(FreshKeysTest, WaitForOperationsFromBeforeTheAttack) {
  change(true, true, 10);
  change(false, false, 20);
  add(5, 21);
  add(22, 24);
  EXPECT_EQ(judged().size(), 0U);
  change(false, false, 25);
  add(26, 27);
  EXPECT_THAT(judged(), testing::ElementsAre(26));
  add(6, 0);
  EXPECT_EQ(judged().size(), 0U) << "it may take effect at any time";
}

TEST_F(FreshKeysTest, MayChangeByOperationsThatArePendingThen) {
  change(true, true, 10);
  change(false, false, 20);
  add(15, 22);
  const std::vector<Operation> judged_now = fresh_.operations_since(key_, history_);
  ASSERT_EQ(judged_now.size(), 1U);
  EXPECT_EQ(judged_now.front().answer, checkers::Answer::indeterminate);
  EXPECT_EQ(judged_now.front().call_time, 20U);
}

TEST_F(FreshKeysTest, AreNotJudgedAfterTheServerDied) {
  change(true, true, 10);
  change(false, false, 20);
  fresh_.on_server_died();
  add(22, 24);
  EXPECT_EQ(judged().size(), 0U);
}

}  // namespace
}  // namespace falafel::store_scenario
