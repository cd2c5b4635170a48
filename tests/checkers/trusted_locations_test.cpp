// Tests of the time for which clients trust the locations that they remember.
#include "checkers/trusted_locations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/checkers/memory.h"

namespace falafel::checkers {
namespace {

constexpr std::uint64_t longest_trust_ns = 100;
constexpr std::uint64_t remembered_slot = 3;
constexpr Entry remembered_word(0x9'0000'0004);

Judgement judge(TrustedLocations& locations, std::uint64_t call_ns) {
  const Operation operation{
      .client = 2, .kind = OperationKind::remove, .key = "key", .call_time = 5};
  locations.on_used(remembered_slot, remembered_word, operation, call_ns, 17);
  return locations.judgement();
}

TEST(TrustedLocations, MayBeUsedWhileTheyAreThere) {
  TrustedLocations locations(longest_trust_ns);
  EXPECT_EQ(judge(locations, 1'000'000).verdict, Verdict::holds);
}

TEST(TrustedLocations, MayBeUsedForSomeTimeAfterTheyHaveLeft) {
  TrustedLocations locations(longest_trust_ns);
  locations.on_replaced(remembered_slot, remembered_word, 1'000);
  EXPECT_EQ(judge(locations, 900).verdict, Verdict::holds);
  EXPECT_EQ(judge(locations, 1'100).verdict, Verdict::holds);
}

TEST(TrustedLocations, MustNotBeUsedForLonger) {
  TrustedLocations locations(longest_trust_ns);
  locations.on_replaced(remembered_slot, remembered_word, 1'000);
  const Judgement judgement = judge(locations, 1'101);
  expect_violation(judgement, "location.trusted-too-long");
  EXPECT_THAT(judgement.explanation, testing::HasSubstr("left it 101 ns before the call"));
  EXPECT_THAT(judgement.slots, testing::ElementsAre(remembered_slot));
  EXPECT_THAT(judgement.calls, testing::ElementsAre(5));
  EXPECT_EQ(judgement.step, 17U);
}

TEST(TrustedLocations, AreDistinguishedBySlotAndWord) {
  TrustedLocations locations(longest_trust_ns);
  locations.on_replaced(remembered_slot + 1, remembered_word, 1'000);
  locations.on_replaced(remembered_slot, remembered_word.with_deleted(), 1'000);
  EXPECT_EQ(judge(locations, 2'000).verdict, Verdict::holds);
}

TEST(TrustedLocations, AreThereAgainWhenTagsHaveWrappedAround) {
  TrustedLocations locations(longest_trust_ns);
  locations.on_replaced(remembered_slot, remembered_word, 1'000);
  locations.on_present(remembered_slot, remembered_word);
  EXPECT_EQ(judge(locations, 2'000).verdict, Verdict::holds);
}

TEST(TrustedLocations, AreUnknownInAnotherTable) {
  TrustedLocations locations(longest_trust_ns);
  locations.on_replaced(remembered_slot, remembered_word, 1'000);
  locations.on_restart();
  EXPECT_EQ(judge(locations, 2'000).verdict, Verdict::holds);
}

}  // namespace
}  // namespace falafel::checkers
