// Tests of the judge of key scans, on histories of one key, "x".
#include "checkers/key_scans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/layout/pinned.h"
#include "tests/checkers/operations.h"

namespace falafel::checkers_test {
namespace {

using checkers::check_key_scan;
using checkers::Expiry;
using checkers::KeyScan;
using checkers::KeyScanJudgement;
using checkers::KeyVisit;
using checkers::Verdict;

using History = std::vector<Operation>;

Operation indeterminate(Operation operation) {
  operation.answer = Answer::indeterminate;
  operation.return_time = 0;
  return operation;
}

KeyVisit visit(const std::string& value, std::uint64_t time = 150) {
  return {.key = "x", .value = value, .time = time, .time_ns = time};
}

// A complete scan from 100 to 200.
KeyScan scan(std::vector<KeyVisit> visits) {
  return {.client = 7,
          .call_time = 100,
          .call_ns = 100,
          .is_complete = true,
          .return_time = 200,
          .return_ns = 200,
          .visits = std::move(visits)};
}

void expect_holds(const KeyScan& scan, const History& history) {
  const KeyScanJudgement result = check_key_scan(scan, {.operations = history});
  EXPECT_EQ(result.judgement.verdict, Verdict::holds) << result.judgement.explanation;
}

void expect_violated(const KeyScan& scan, const History& history, const std::string& property) {
  const KeyScanJudgement result = check_key_scan(scan, {.operations = history});
  EXPECT_EQ(result.judgement.verdict, Verdict::violated);
  EXPECT_EQ(result.judgement.property, property);
  EXPECT_THAT(result.judgement.explanation, testing::HasSubstr("client 7 (call 100"));
  EXPECT_THAT(result.judgement.calls, testing::ElementsAre(100));
}

TEST(KeyScans, VisitAKeyThatStays) {
  const History history{stored(1, {10, 20}, "a")};
  expect_holds(scan({visit("a")}), history);
  expect_holds(scan({visit("a"), visit("a")}), history);
  expect_violated(scan({}), history, "scan.missed-key");
}

TEST(KeyScans, VisitAKeyThatIsOverwritten) {
  const History history{stored(1, {10, 20}, "a"), stored(2, {110, 190}, "b"),
                        indeterminate(stored(3, {120, 0}, "c"))};
  for (const char* value : {"a", "b", "c"}) expect_holds(scan({visit(value)}), history);
  expect_violated(scan({}), history, "scan.missed-key");
}

TEST(KeyScans, MayMissAKeyThatIsRemovedOrInserted) {
  const Operation set = stored(1, {10, 20}, "a");
  expect_holds(scan({}), {set, deleted(2, {150, 160})});
  expect_holds(scan({}), {set, deleted(2, {30, 110})});
  expect_holds(scan({}), {set, indeterminate(deleted(2, {30, 0}))});
  expect_holds(scan({}), {stored(1, {90, 110}, "a")});
  expect_holds(scan({}), {indeterminate(set)});
  // It may be removed before the second set, or after it.
  expect_holds(scan({}), {deleted(2, {15, 50}), stored(1, {30, 40}, "a")});
}

TEST(KeyScans, MayNotMissAKeyBecauseOfOtherRemovals) {
  const Operation set = stored(1, {10, 20}, "a");
  expect_violated(scan({}), {set, deleted(2, {200, 210})}, "scan.missed-key");
  expect_violated(scan({}), {deleted(2, {1, 5}), set}, "scan.missed-key");
  expect_violated(scan({}), {set, nothing_deleted(2, {5, 15})}, "scan.missed-key");
  expect_violated(scan({}), {stored(3, {1, 3}, "b"), deleted(2, {5, 8}), set}, "scan.missed-key");
}

TEST(KeyScans, DoNotVisitAKeyThatIsAbsent) {
  const Operation set = stored(1, {10, 20}, "a");
  expect_violated(scan({visit("a")}), {set, deleted(2, {30, 40})}, "scan.absent-key");
  expect_violated(scan({visit("a")}), {stored(1, {160, 170}, "a")}, "scan.absent-key");
  expect_violated(scan({visit("a")}), {not_found(1, {10, 20})}, "scan.absent-key");
  expect_violated(scan({visit("a")}), {}, "scan.absent-key");
  expect_holds(scan({visit("a")}), {set, deleted(2, {30, 110})});
  expect_holds(scan({visit("a")}), {indeterminate(set), deleted(2, {30, 40})});
  expect_holds(scan({visit("a")}), {set, indeterminate(deleted(2, {30, 0}))});
}

TEST(KeyScans, VisitAKeyWithAValueOfThatTime) {
  const History history{stored(1, {10, 20}, "a"), stored(1, {30, 40}, "b"),
                        stored(1, {160, 170}, "c")};
  expect_holds(scan({visit("b")}), history);
  expect_violated(scan({visit("a")}), history, "scan.wrong-value");
  expect_violated(scan({visit("c")}), history, "scan.wrong-value");
  expect_violated(scan({visit("d")}), history, "scan.wrong-value");
  expect_holds(scan({visit("b"), visit("c", 165)}), history);
}

TEST(KeyScans, AreNotJudgedByWhatTheyMissUnlessTheyAreComplete) {
  const History history{stored(1, {10, 20}, "a"), deleted(1, {30, 40})};
  KeyScan broken = scan({});
  broken.is_complete = false;
  expect_holds(broken, {stored(1, {10, 20}, "a")});
  broken.visits = {visit("a")};
  expect_violated(broken, history, "scan.absent-key");
}

TEST(KeyScans, CountTheKeysThatStayThere) {
  Operation other = stored(1, {10, 20}, "a");
  other.key = "y";
  const History history{stored(1, {10, 20}, "a"), other, deleted(1, {10, 20})};
  const KeyScanJudgement result = check_key_scan(scan({visit("a")}), {.operations = history});
  EXPECT_EQ(result.present_keys, 1U);
  const KeyScanJudgement before =
      check_key_scan(scan({}), {.operations = History{not_found(1, {10, 20})}});
  EXPECT_EQ(before.present_keys, 0U);
  EXPECT_EQ(before.absent_keys, 1U);
}

// Values that expire

KeyScanJudgement judge_cache(const KeyScan& scan, const History& history,
                             const std::vector<std::optional<Expiry>>& expiries,
                             bool evicts = false) {
  return check_key_scan(scan, {.operations = history, .expiries = expiries, .evicts = evicts});
}

KeyVisit visit_for(std::uint64_t time_to_live_ns) {
  KeyVisit visited = visit("a");
  visited.time_to_live_ns = time_to_live_ns;
  return visited;
}

TEST(KeyScans, MayMissAValueThatExpires) {
  const History history{stored(1, {10, 20}, "a")};
  const auto property_of = [&](Expiry expiry) {
    return judge_cache(scan({}), history, {expiry}).judgement.property;
  };
  EXPECT_EQ(property_of({.earliest_ns = 201, .latest_ns = 300}), "scan.missed-key");
  EXPECT_EQ(property_of({.earliest_ns = 200, .latest_ns = 300}), "scan");
  EXPECT_EQ(property_of({.earliest_ns = 50, .latest_ns = 60}), "scan");
  EXPECT_EQ(judge_cache(scan({}), history, {std::nullopt}).judgement.property, "scan.missed-key");
  EXPECT_EQ(judge_cache(scan({}), history, {std::nullopt}, true).judgement.property, "scan");
}

TEST(KeyScans, MayMissAKeyWhoseNewValueExpires) {
  const History history{stored(1, {10, 20}, "a"), indeterminate(stored(2, {30, 0}, "b"))};
  const Expiry expiry{.earliest_ns = 150, .latest_ns = 400};
  EXPECT_EQ(judge_cache(scan({}), history, {std::nullopt, expiry}).judgement.property, "scan");
  EXPECT_EQ(judge_cache(scan({}), history, {std::nullopt, std::nullopt}).judgement.property,
            "scan.missed-key");
}

TEST(KeyScans, DoNotVisitAValueThatHasExpired) {
  const History history{stored(1, {10, 20}, "a")};
  const auto property_of = [&](std::uint64_t latest_ns) {
    return judge_cache(scan({visit_for(1)}), history, {Expiry{50, latest_ns}}).judgement.property;
  };
  EXPECT_EQ(property_of(100), "scan.absent-key");
  EXPECT_EQ(property_of(101), "scan");
}

// The scan reads the value between its call at 100 ns and the visit at 150 ns.
TEST(KeyScans, ReportTheTimeToLiveThatIsLeft) {
  const History history{stored(1, {10, 20}, "a")};
  const auto property_of = [&](std::uint64_t time_to_live_ns) {
    return judge_cache(scan({visit_for(time_to_live_ns)}), history, {Expiry{1'000, 1'010}})
        .judgement.property;
  };
  EXPECT_EQ(property_of(849), "scan.time-to-live");
  EXPECT_EQ(property_of(850), "scan");
  EXPECT_EQ(property_of(910), "scan");
  EXPECT_EQ(property_of(911), "scan.time-to-live");
  EXPECT_EQ(property_of(0), "scan.time-to-live");
}

TEST(KeyScans, ReportNoTimeToLiveOfAValueThatStays) {
  const History history{stored(1, {10, 20}, "a")};
  expect_violated(scan({visit_for(1)}), history, "scan.time-to-live");
  EXPECT_EQ(judge_cache(scan({visit_for(0)}), history, {std::nullopt}).judgement.property, "scan");
}

// Also if the server evicts.
TEST(KeyScans, VisitAPinnedValueAsOne) {
  const History history{stored(1, {10, 20}, "a")};
  const auto property_of = [&](const std::vector<KeyVisit>& visits, Expiry expiry) {
    return judge_cache(scan(visits), history, {expiry}, true).judgement.property;
  };
  const KeyVisit as_pinned = visit_for(engine::pinned_time_to_live_ns);
  EXPECT_EQ(property_of({as_pinned}, Expiry::pinned()), "scan");
  EXPECT_EQ(property_of({}, Expiry::pinned()), "scan.missed-key");
  EXPECT_EQ(property_of({visit_for(0)}, Expiry::pinned()), "scan.time-to-live");
  EXPECT_EQ(property_of({visit_for(1'000)}, Expiry::pinned()), "scan.time-to-live");
  constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(property_of({as_pinned}, {.earliest_ns = 100, .latest_ns = never}),
            "scan.time-to-live");
}

}  // namespace
}  // namespace falafel::checkers_test
