// Histories of a key-value register: GET, SET, DELETE.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/checkers/verdicts.h"

namespace falafel::checkers_test {
namespace {

checkers::Verdict judged_as_register(Operations history) {
  return judge(checkers::Model::key_value_register, std::move(history));
}

TEST(KeyValueRegister, EmptyHistoryHolds) { EXPECT_EQ(judged_as_register({}), holds); }

TEST(KeyValueRegister, IsAbsentAtFirst) {
  EXPECT_EQ(judged_as_register({not_found(1, {1, 2})}), holds);
  EXPECT_EQ(judged_as_register({nothing_deleted(1, {1, 2})}), holds);
  EXPECT_EQ(judged_as_register({found(1, {1, 2}, "")}), violated);
  EXPECT_EQ(judged_as_register({deleted(1, {1, 2})}), violated);
}

TEST(KeyValueRegister, KeepsWhatWasSetLast) {
  EXPECT_EQ(judged_as_register({stored(1, {1, 2}, "a"), found(2, {3, 4}, "a")}), holds);
  EXPECT_EQ(
      judged_as_register({stored(1, {1, 2}, "a"), stored(1, {3, 4}, "b"), found(2, {5, 6}, "b")}),
      holds);
}

TEST(KeyValueRegister, StaleReadIsViolation) {
  EXPECT_EQ(
      judged_as_register({stored(1, {1, 2}, "a"), stored(1, {3, 4}, "b"), found(2, {5, 6}, "a")}),
      violated);
  EXPECT_EQ(judged_as_register({stored(1, {1, 2}, "a"), not_found(2, {3, 4})}), violated);
}

TEST(KeyValueRegister, ReadFromTheFutureIsViolation) {
  EXPECT_EQ(judged_as_register({found(2, {1, 2}, "a"), stored(1, {3, 4}, "a")}), violated);
}

TEST(KeyValueRegister, ValueNeverWrittenIsViolation) {
  EXPECT_EQ(judged_as_register({stored(1, {1, 9}, "a"), found(2, {2, 3}, "b")}), violated);
  EXPECT_EQ(judged_as_register({stored(1, {1, 9}, "a"), found(2, {2, 3}, "")}), violated);
}

TEST(KeyValueRegister, ValueOfAnotherKeyIsViolation) {
  const Operations history = {on("y", stored(1, {1, 2}, "a")), stored(1, {3, 4}, "b"),
                              found(2, {5, 6}, "a")};
  EXPECT_EQ(judged_as_register(history), violated);
}

TEST(KeyValueRegister, ConcurrentGetMayFindEither) {
  const Operation before = stored(1, {1, 2}, "a");
  const Operation set = stored(1, {5, 10}, "b");
  EXPECT_EQ(judged_as_register({before, set, found(2, {6, 7}, "a")}), holds);
  EXPECT_EQ(judged_as_register({before, set, found(2, {6, 7}, "b")}), holds);
  EXPECT_EQ(judged_as_register({before, set, not_found(2, {6, 7})}), violated);
}

TEST(KeyValueRegister, NewAndThenOldIsViolation) {
  const Operation before = stored(1, {1, 2}, "a");
  const Operation set = stored(1, {5, 10}, "b");
  EXPECT_EQ(judged_as_register({before, set, found(2, {6, 7}, "a"), found(3, {8, 9}, "b")}), holds);
  EXPECT_EQ(judged_as_register({before, set, found(2, {6, 7}, "b"), found(3, {8, 9}, "a")}),
            violated);
}

TEST(KeyValueRegister, OperationsThatTouchAreConcurrent) {
  EXPECT_EQ(judged_as_register({stored(1, {1, 5}, "a"), not_found(2, {5, 6})}), holds);
  EXPECT_EQ(judged_as_register({stored(1, {1, 5}, "a"), not_found(2, {6, 7})}), violated);
  EXPECT_EQ(
      judged_as_register({stored(1, {5, 5}, "a"), stored(2, {5, 5}, "b"), found(3, {5, 5}, "a")}),
      holds);
}

TEST(KeyValueRegister, AllSeeWritesInOneOrder) {
  const Operation first = stored(1, {1, 4}, "a");
  const Operation second = stored(2, {1, 4}, "b");
  EXPECT_EQ(judged_as_register({first, second, found(3, {5, 6}, "a"), found(4, {5, 6}, "a")}),
            holds);
  EXPECT_EQ(judged_as_register({first, second, found(3, {5, 6}, "a"), found(4, {5, 6}, "b")}),
            violated);
}

TEST(KeyValueRegister, DeleteNeedsAPresentKey) {
  const Operation set = stored(1, {1, 2}, "a");
  EXPECT_EQ(judged_as_register({set, deleted(1, {3, 4}), not_found(2, {5, 6})}), holds);
  EXPECT_EQ(judged_as_register({set, deleted(1, {3, 4}), nothing_deleted(2, {5, 6})}), holds);
  EXPECT_EQ(judged_as_register({set, deleted(1, {3, 4}), found(2, {5, 6}, "a")}), violated);
  EXPECT_EQ(judged_as_register({set, nothing_deleted(1, {3, 4})}), violated);
}

TEST(KeyValueRegister, DoubleDeleteIsViolation) {
  const Operation set = stored(1, {1, 2}, "a");
  EXPECT_EQ(judged_as_register({set, deleted(1, {3, 6}), deleted(2, {4, 5})}), violated);
  EXPECT_EQ(judged_as_register({set, deleted(1, {3, 6}), nothing_deleted(2, {4, 5})}), holds);
  EXPECT_EQ(
      judged_as_register({set, stored(3, {1, 6}, "a"), deleted(1, {3, 6}), deleted(2, {4, 5})}),
      holds);
}

TEST(KeyValueRegister, ResurrectedValueIsViolation) {
  EXPECT_EQ(judged_as_register({stored(1, {1, 2}, "a"), deleted(2, {3, 4}), not_found(3, {5, 6}),
                                found(3, {7, 8}, "a")}),
            violated);
}

TEST(KeyValueRegister, LostUpdateIsViolation) {
  // The second SET was overwritten by the first one, although the first one had returned earlier.
  EXPECT_EQ(judged_as_register({stored(1, {1, 2}, "a"), stored(2, {3, 4}, "b"),
                                found(2, {5, 6}, "b"), found(1, {7, 8}, "a")}),
            violated);
}

TEST(KeyValueRegister, IndeterminateSetMayTakeEffectLateOrNever) {
  const Operation set = lost(stored(1, {1, 0}, "a"));
  EXPECT_EQ(judged_as_register({set}), holds);
  EXPECT_EQ(judged_as_register({set, not_found(2, {50, 60})}), holds);
  EXPECT_EQ(judged_as_register({set, found(2, {50, 60}, "a")}), holds);
  EXPECT_EQ(judged_as_register({set, not_found(2, {50, 60}), found(2, {70, 80}, "a")}), holds);
}

TEST(KeyValueRegister, IndeterminateSetTakesEffectAtMostOnce) {
  const Operation set = lost(stored(1, {1, 0}, "a"));
  EXPECT_EQ(judged_as_register({set, found(2, {2, 3}, "a"), not_found(2, {4, 5})}), violated);
  EXPECT_EQ(
      judged_as_register({set, found(2, {2, 3}, "a"), deleted(2, {4, 5}), found(2, {6, 7}, "a")}),
      violated);
  EXPECT_EQ(judged_as_register({set, lost(stored(3, {1, 0}, "a")), found(2, {2, 3}, "a"),
                                deleted(2, {4, 5}), found(2, {6, 7}, "a")}),
            holds);
}

TEST(KeyValueRegister, IndeterminateSetTakesNoEffectBeforeItsCall) {
  EXPECT_EQ(judged_as_register({found(2, {1, 2}, "a"), lost(stored(1, {3, 0}, "a"))}), violated);
}

TEST(KeyValueRegister, IndeterminateDeleteMayTakeEffectLateOrNever) {
  const Operation set = stored(1, {1, 2}, "a");
  const Operation removal = lost(deleted(1, {3, 0}));
  EXPECT_EQ(judged_as_register({set, removal, found(2, {4, 5}, "a"), not_found(2, {6, 7})}), holds);
  EXPECT_EQ(judged_as_register({set, removal, not_found(2, {4, 5}), found(2, {6, 7}, "a")}),
            violated);
  EXPECT_EQ(judged_as_register({set, removal, deleted(2, {4, 5})}), holds);
}

TEST(KeyValueRegister, UnreadIndeterminateSetsMakeTheKeyPresent) {
  // No get returns its value, but a DELETE observes it.
  const Operation first = lost(stored(1, {1, 0}, "a"));
  const Operation second = lost(stored(1, {2, 0}, "b"));
  EXPECT_EQ(judged_as_register({first, second, deleted(2, {3, 4}), deleted(2, {5, 6})}), holds);
  EXPECT_EQ(judged_as_register(
                {first, second, deleted(2, {3, 4}), deleted(2, {5, 6}), deleted(2, {7, 8})}),
            violated);
}

TEST(KeyValueRegister, IndeterminateGetAndRefusedOperationsMeanNothing) {
  Operation refused = stored(1, {3, 4}, "b");
  refused.answer = Answer::refused;
  EXPECT_EQ(judged_as_register({stored(1, {1, 2}, "a"), refused, lost(found(2, {3, 0}, "c")),
                                found(2, {5, 6}, "a")}),
            holds);
  EXPECT_EQ(judged_as_register({stored(1, {1, 2}, "a"), refused, found(2, {5, 6}, "b")}), violated);
}

TEST(KeyValueRegister, BytesAreComparedAsTheyAre) {
  using namespace std::string_literals;
  EXPECT_EQ(judged_as_register({stored(1, {1, 2}, "a\0b"s), found(2, {3, 4}, "a\0b"s)}), holds);
  EXPECT_EQ(judged_as_register({stored(1, {1, 2}, "a\0b"s), found(2, {3, 4}, "a\0c"s)}), violated);
  EXPECT_EQ(
      judged_as_register({on("k\0a"s, stored(1, {1, 2}, "a")), on("k\0b"s, not_found(2, {3, 4}))}),
      holds);
}

TEST(KeyValueRegister, MoreOperationsUnderWayThanAWordHasBits) {
  Operations history;
  for (std::uint32_t client = 0; client < 200; ++client) {
    history.push_back(stored(client, {1, 1'000}, std::to_string(client)));
    history.push_back(found(client, {2 + 2 * client, 3 + 2 * client}, std::to_string(client)));
  }
  EXPECT_EQ(judged_as_register(history), holds);
  history.push_back(found(7, {2'000, 2'001}, "199"));
  EXPECT_EQ(judged_as_register(history), holds);
  history.push_back(found(7, {2'002, 2'003}, "198"));
  EXPECT_EQ(judged_as_register(history), violated);
}

TEST(KeyValueRegisterDeath, OtherKindsAreACallersMistake) {
  EXPECT_DEATH(judged_as_register({appended(1, {1, 2}, "a")}), "model does not support");
  EXPECT_DEATH(judged_as_register({swapped(1, {1, 2}, "a", "b")}), "model does not support");
  EXPECT_DEATH(judged_as_register({stored(1, {2, 1}, "a")}), "return_time >= operation.call_time");
}

}  // namespace
}  // namespace falafel::checkers_test
