// The checkers of refusals: which refusals they accept, and which they report.
#include "checkers/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkers/disconnections.h"
#include "tests/checkers/memory.h"

namespace falafel::checkers {
namespace {

using engine::RegionState;
using testing::HasSubstr;

constexpr RefusalRules refusal_rules{
    .longest_container_bytes = 64, .server_timeout_ns = 1'000, .heartbeat_timeout_ns = 500};
constexpr std::array<std::uint32_t, 2> connected_clients{1, 2};

// A memory with two regions of 64 bytes, mature spaces of 512 and a table of four entries.
// Operations are called at time 0 and refused at time 100.
class RefusalTest : public testing::Test {
 protected:
  // Keys have containers of 40 bytes in the mature space.
  void put(std::uint64_t slot, std::uint64_t time_ns = 0) {
    change(slot, memory_.entry_to(memory_.add_container(memory_.key_at(slot))), time_ns);
  }
  void remove(std::uint64_t slot) { change(slot, table_.entry(slot).with_deleted()); }
  void change(std::uint64_t slot, Entry entry, std::uint64_t time_ns = 0) {
    memory_.set_entry(slot, entry);
    table_.on_changed(slot, entry, memory_.view(), 1);
    checker_.on_table(table_, memory_.geometry_, time_ns);
  }
  void fill_table() {
    for (std::uint64_t slot = 0; slot < 4; ++slot) put(slot);
  }
  void fill_memory(std::uint64_t count) {
    for (std::uint64_t slot = 0; slot < count; ++slot) put(slot);
  }
  void grant(std::size_t region, std::uint32_t client) {
    memory_.regions_[region] = {
        .state = RegionState::granted, .client = client, .incarnation = next_incarnation_++};
  }
  void deny(Need need = Need::any_key, std::uint64_t time_ns = 50) {
    checker_.on_denied(
        need, {.memory = memory_.view(), .clients = connected_clients, .measured = measured_},
        time_ns, 7);
  }
  RefusalChecker::Call call(std::uint64_t time_ns = 0) {
    return checker_.on_call(memory_.regions_, cleanups_, time_ns);
  }
  void refuse(const RefusalChecker::Call& call, Refusal refusal, Need need = Need::any_key,
              OperationKind kind = OperationKind::set) {
    const Operation operation{.client = 3, .kind = kind, .key = "key", .call_time = 5};
    checker_.on_refused(call, operation, refusal, need, cleanups_, call.time_ns + 100, 9);
  }
  // Something became garbage after the measurement. The server may deny a region nevertheless,
  // until this time.
  void expect_measurement_to_last(const engine::MeasurementTime& measured, std::uint64_t until_ns) {
    fill_memory(4);
    memory_.geometry_.mature_bytes = table_.live_mature_bytes() + 64 - 8;
    measured_ = measured;
    change(0, Entry(), measured.began_ns + 10);
    const auto first = call(until_ns - 20);
    deny(Need::any_key, until_ns);
    refuse(first, Refusal::out_of_memory);
    expect_no_violation();
    const auto second = call(until_ns - 20);
    deny(Need::any_key, until_ns + 1);
    refuse(second, Refusal::out_of_memory);
    expect("refusal.out-of-memory", "was too old");
  }
  void set_rules(const RefusalRules& rules) { checker_ = RefusalChecker(rules); }
  void expect_no_violation() const {
    EXPECT_EQ(checker_.judgement().verdict, Verdict::holds) << checker_.judgement().explanation;
  }
  void expect(const std::string& property, const std::string& objection) const {
    expect_violation(checker_.judgement(), property);
    EXPECT_THAT(checker_.judgement().explanation, HasSubstr(objection));
    EXPECT_EQ(checker_.judgement().step, 9U);
    EXPECT_EQ(checker_.judgement().calls, std::vector<std::uint64_t>{5});
  }

  Memory memory_;
  TableWatch table_{4};
  RefusalChecker checker_{refusal_rules};
  std::uint64_t next_incarnation_ = 1;
  std::uint64_t cleanups_ = 0;
  std::optional<engine::MeasurementTime> measured_;
};

TEST_F(RefusalTest, ValuesAreTooLargeByTheirSizesOnly) {
  const auto called = call();
  Operation operation{.kind = OperationKind::set, .key = "key", .value = std::string(38, 'v')};
  checker_.on_refused(called, operation, Refusal::value_too_large, Need::any_key, 0, 100, 9);
  expect_no_violation();
  operation.value.pop_back();
  checker_.on_refused(called, operation, Refusal::value_too_large, Need::any_key, 0, 100, 9);
  expect_violation(checker_.judgement(), "refusal.value-too-large");
}

// A full table

TEST_F(RefusalTest, ATableWasFullDuringTheOperation) {
  fill_table();
  const auto first = call();
  change(0, Entry());
  refuse(first, Refusal::table_full);
  expect_no_violation();
  refuse(call(), Refusal::table_full);
  expect("refusal.table-full", "some entry was empty");
}

TEST_F(RefusalTest, ADeletedEntryCallsForACleanup) {
  fill_table();
  remove(2);
  const auto called = call();
  refuse(called, Refusal::table_full);
  expect("refusal.table-full", "no cleanup began");
}

TEST_F(RefusalTest, AfterACleanupDeletedEntriesAreNobodysFault) {
  fill_table();
  remove(2);
  const auto called = call();
  ++cleanups_;
  refuse(called, Refusal::table_full);
  expect_no_violation();
}

TEST_F(RefusalTest, ADeletedEntryThatLivesAgainMayHaveBeenMissed) {
  fill_table();
  remove(2);
  remove(3);
  const auto called = call();
  put(2);
  refuse(called, Refusal::table_full);
  expect_no_violation();
  refuse(call(), Refusal::table_full);
  expect("refusal.table-full", "no cleanup began");
}

TEST_F(RefusalTest, ANewServerHasAnEmptyTable) {
  fill_table();
  checker_.on_restart();
  refuse(call(), Refusal::table_full);
  expect("refusal.table-full", "some entry was empty");
}

TEST_F(RefusalTest, OnlyASetMeetsAFullTable) {
  fill_table();
  refuse(call(), Refusal::table_full, Need::any_key, OperationKind::get);
  expect("refusal.table-full", "stores nothing");
}

// Memory

// With one region that is granted, 512 bytes have room for 320 that live, one more region, and the
// reserve.
constexpr std::uint64_t most_bytes = 320;

TEST_F(RefusalTest, MemoryIsFullIfTheMatureSpaceHasNoRoomForAnotherRegion) {
  fill_memory(4);
  memory_.geometry_.mature_bytes -= most_bytes - table_.live_mature_bytes() + 8;
  const auto called = call();
  grant(0, 1);
  deny();
  refuse(called, Refusal::out_of_memory);
  expect_no_violation();
}

TEST_F(RefusalTest, MemoryThatIsFreeIsNotDenied) {
  fill_memory(4);
  memory_.geometry_.mature_bytes -= most_bytes - table_.live_mature_bytes();
  const auto called = call();
  grant(0, 1);
  deny();
  refuse(called, Refusal::out_of_memory);
  expect("refusal.out-of-memory", "when the server denied a region in step 7, a region was free");
}

TEST_F(RefusalTest, OnlyTheKeysOfDeletedEntriesLive) {
  fill_memory(4);
  const std::uint64_t all_bytes = table_.live_mature_bytes();
  remove(1);
  EXPECT_LT(table_.live_mature_bytes(), all_bytes);
  change(1, Entry());
  EXPECT_EQ(table_.live_mature_bytes(), all_bytes / 4 * 3);
}

TEST_F(RefusalTest, NobodyIsRefusedMemoryWithoutADenial) {
  memory_.geometry_.mature_bytes = 64;
  deny();
  refuse(call(), Refusal::out_of_memory);
  expect("refusal.out-of-memory", "denied nobody");
}

TEST_F(RefusalTest, AnOverwriteMayUseTheReserve) {
  fill_memory(4);
  memory_.geometry_.mature_bytes -= most_bytes - table_.live_mature_bytes() + 8;
  const auto called = call();
  grant(0, 1);
  deny(Need::overwrite);
  refuse(called, Refusal::out_of_memory, Need::overwrite);
  expect("refusal.out-of-memory", "a region was free");
}

TEST_F(RefusalTest, AnOverwriteIsRefusedIfTheReserveIsUsed) {
  fill_memory(4);
  memory_.geometry_.mature_bytes -= most_bytes - table_.live_mature_bytes() + 64 + 8;
  const auto called = call();
  grant(0, 1);
  deny(Need::overwrite);
  refuse(called, Refusal::out_of_memory, Need::overwrite);
  expect_no_violation();
}

TEST_F(RefusalTest, AnOverwriteAsksForTheReserve) {
  memory_.geometry_.mature_bytes = 64;
  const auto called = call();
  grant(0, 1);
  deny();
  refuse(called, Refusal::out_of_memory, Need::overwrite);
  expect("refusal.out-of-memory", "nobody a region of the reserve");
}

TEST_F(RefusalTest, RegionsThatWereGrantedAfterTheCallMayAllBeGranted) {
  const auto called = call();
  grant(0, 1);
  grant(1, 2);
  deny();
  refuse(called, Refusal::out_of_memory);
  expect_no_violation();
}

TEST_F(RefusalTest, RegionsThatWereGrantedBeforeHaveToComeBack) {
  grant(0, 1);
  const auto called = call();
  grant(1, 2);
  deny();
  refuse(called, Refusal::out_of_memory);
  expect("refusal.out-of-memory", "still held a region");
}

TEST_F(RefusalTest, RegionsOfClientsThatAreGoneNeedNotComeBack) {
  grant(0, 7);
  const auto called = call();
  grant(1, 2);
  deny();
  refuse(called, Refusal::out_of_memory);
  expect_no_violation();
}

TEST_F(RefusalTest, RegionsNeedNotComeBackWhereNobodyIsAsked) {
  RefusalRules rules = refusal_rules;
  rules.gives_regions_back = false;
  set_rules(rules);
  grant(0, 1);
  grant(1, 2);
  const auto called = call();
  deny();
  refuse(called, Refusal::out_of_memory);
  expect_no_violation();
}

TEST_F(RefusalTest, WhatWillBeFreeIsWaitedFor) {
  for (const RegionState state :
       {RegionState::released, RegionState::collecting, RegionState::waiting}) {
    set_rules(refusal_rules);
    const auto called = call();
    grant(0, 1);
    memory_.regions_[1].state = state;
    deny();
    refuse(called, Refusal::out_of_memory);
    expect("refusal.out-of-memory", "collect");
  }
}

TEST_F(RefusalTest, AMatureSpaceThatWillBeFreeIsWaitedFor) {
  memory_.geometry_.mature_bytes = 64;
  memory_.mature_spaces_[1].waiting = true;
  const auto called = call();
  deny();
  refuse(called, Refusal::out_of_memory);
  expect("refusal.out-of-memory", "a collected mature space");
}

// Blocks

// The last of five blocks of 128 bytes is active. Each of `full` blocks holds two containers of 40
// bytes. A region is granted, so another needs three free blocks.
class RefusalWithBlocksTest : public RefusalTest {
 protected:
  void fill_blocks(std::uint32_t full) {
    memory_.use_blocks(128, 5);
    memory_.mature_spaces_[0].active = false;
    memory_.mature_spaces_[4].active = true;
    for (std::uint64_t slot = 0; slot < std::uint64_t{2} * full; ++slot) {
      const auto block = static_cast<std::uint32_t>(slot / 2);
      change(slot, memory_.entry_to(memory_.add_container_to(block, memory_.key_at(slot))));
    }
  }
  void refuse_after_denial() {
    const auto called = call();
    grant(0, 1);
    deny();
    refuse(called, Refusal::out_of_memory);
  }
};

TEST_F(RefusalWithBlocksTest, MemoryIsFullIfTooFewBlocksAreFree) {
  fill_blocks(2);
  memory_.geometry_.mature_bytes = 112;  // a collection gains less than a container
  memory_.chunk_.resize(memory_.geometry_.chunk_bytes());
  refuse_after_denial();
  expect_no_violation();
}

TEST_F(RefusalWithBlocksTest, FreeBlocksAreNotDenied) {
  memory_.use_blocks(128, 5);
  refuse_after_denial();
  expect("refusal.out-of-memory", "so were 4 blocks");
}

TEST_F(RefusalWithBlocksTest, ABlockWithMuchGarbageIsCollectedFirst) {
  fill_blocks(2);
  refuse_after_denial();
  expect("refusal.out-of-memory", "block 0 was worth a collection");
}

TEST_F(RefusalWithBlocksTest, WhatWasCopiedSinceTheMeasurementCountsAsLive) {
  fill_blocks(2);
  for (std::uint32_t block = 0; block < 2; ++block) {
    memory_.mature_spaces_[block].unmeasured_bytes = memory_.mature_spaces_[block].used_bytes;
  }
  refuse_after_denial();
  expect_no_violation();
}

TEST_F(RefusalWithBlocksTest, AReserveIsKeptForThoseWhoOverwrite) {
  // Six blocks, of which two are the reserve. Three are free, as a region and a collection need.
  memory_.use_blocks(64, 6);
  for (std::uint32_t block = 0; block < 3; ++block) {
    memory_.mature_spaces_[block].active = block == 0;
    change(block, memory_.entry_to(memory_.add_container_to(block, memory_.key_at(block))));
  }
  const auto called = call();
  grant(0, 1);
  deny();
  refuse(called, Refusal::out_of_memory);
  expect_no_violation();
  const auto overwrite = call();
  deny(Need::overwrite);
  refuse(overwrite, Refusal::out_of_memory, Need::overwrite);
  expect("refusal.out-of-memory", "so were 3 blocks");
}

// Measurements

// The server goes by what lived when it measured.
TEST_F(RefusalTest, WhatLivedAtTheMeasurementMayBeGarbageAtTheDenial) {
  fill_memory(4);
  memory_.geometry_.mature_bytes = table_.live_mature_bytes() + 64 - 8;
  measured_ = {.began_ns = 20, .took_ns = 10};
  const auto called = call();
  change(0, Entry(), 30);
  deny();
  refuse(called, Refusal::out_of_memory);
  expect_no_violation();
}

TEST_F(RefusalTest, WhatWasGarbageAtTheMeasurementDoesNotCount) {
  fill_memory(4);
  memory_.geometry_.mature_bytes = table_.live_mature_bytes() + 64 - 8;
  measured_ = {.began_ns = 40, .took_ns = 10};
  const auto called = call();
  change(0, Entry(), 30);
  change(2, Entry(), 45);
  deny();
  refuse(called, Refusal::out_of_memory);
  expect("refusal.out-of-memory", "a region was free");
}

TEST_F(RefusalTest, AMeasurementBeforeTheCallIsNotOlderThanTheHeartbeatTimeOut) {
  expect_measurement_to_last({.began_ns = 20, .took_ns = 60}, 520);
}

// The server could have measured again.
TEST_F(RefusalTest, AMeasurementBeforeTheCallIsNotOlderThanTenOfItsKind) {
  expect_measurement_to_last({.began_ns = 20, .took_ns = 20}, 220);
}

TEST_F(RefusalTest, OnlyASetNeedsMemoryOfTheServer) {
  memory_.geometry_.mature_bytes = 64;
  const auto called = call();
  deny();
  refuse(called, Refusal::out_of_memory, Need::any_key, OperationKind::get);
  expect("refusal.out-of-memory", "stores nothing");
}

TEST_F(RefusalTest, AnyOperationLacksMemoryThatCannotBeRegistered) {
  const auto called = call();
  checker_.on_registration_failed();
  refuse(called, Refusal::out_of_memory, Need::any_key, OperationKind::get);
  expect_no_violation();
  refuse(call(), Refusal::out_of_memory, Need::any_key, OperationKind::get);
  expect("refusal.out-of-memory", "stores nothing");
}

TEST_F(RefusalTest, TheServerHasItsTimeToAnswer) {
  const Operation operation{.kind = OperationKind::get, .key = "key"};
  checker_.on_refused(call(), operation, Refusal::timed_out, Need::any_key, 0, 1'000, 9);
  expect_no_violation();
  checker_.on_refused(call(), operation, Refusal::timed_out, Need::any_key, 0, 999, 9);
  expect_violation(checker_.judgement(), "refusal.timed-out");
}

TEST_F(RefusalTest, AWalkMayEndBeforeTheTimeOut) {
  RefusalRules rules = refusal_rules;
  rules.longest_walk_ns = 300;
  checker_ = RefusalChecker(rules);
  const Operation operation{.kind = OperationKind::get, .key = "key"};
  checker_.on_refused(call(), operation, Refusal::timed_out, Need::any_key, 0, 300, 9);
  expect_no_violation();
  checker_.on_refused(call(), operation, Refusal::timed_out, Need::any_key, 0, 299, 9);
  expect_violation(checker_.judgement(), "refusal.timed-out");
}

TEST_F(RefusalTest, AWalkHasItsTimeFromItsOwnBeginning) {
  RefusalRules rules = refusal_rules;
  rules.longest_walk_ns = 300;
  checker_ = RefusalChecker(rules);
  const Operation operation{.kind = OperationKind::get, .key = "key"};
  RefusalChecker::Call restarted = call();
  restarted.walk_ns = 200;
  checker_.on_refused(restarted, operation, Refusal::timed_out, Need::any_key, 0, 500, 9);
  expect_no_violation();
  checker_.on_refused(restarted, operation, Refusal::timed_out, Need::any_key, 0, 499, 9);
  expect_violation(checker_.judgement(), "refusal.timed-out");
}

// Connections

TEST(Disconnections, NeedABrokenConnectionAndAReason) {
  const auto judge = [](bool is_broken, bool has_reason) {
    Disconnections disconnections;
    disconnections.on_no_answer(3);
    disconnections.on_error(3);
    if (is_broken) disconnections.on_error(4);
    if (has_reason) disconnections.on_no_answer(4);
    disconnections.on_disconnected(4, {.key = "key", .call_time = 5}, 9);
    return disconnections.judgement();
  };
  EXPECT_EQ(judge(true, true).verdict, Verdict::holds);
  expect_violation(judge(true, false), "refusal.disconnected");
  expect_violation(judge(false, true), "refusal.disconnected");
}

TEST(Disconnections, FaultsGoodbyesAndHeardClosesAreReasons) {
  Disconnections disconnections;
  disconnections.on_error(1);
  disconnections.on_fault(1);
  disconnections.on_error(2);
  disconnections.on_goodbye(2);
  disconnections.on_error(3);
  disconnections.on_close_heard(3);
  disconnections.on_disconnected(1, {.key = "key"}, 9);
  disconnections.on_disconnected(2, {.key = "key"}, 9);
  disconnections.on_disconnected(3, {.key = "key"}, 9);
  EXPECT_EQ(disconnections.judgement().verdict, Verdict::holds);
}

}  // namespace
}  // namespace falafel::checkers
