// Histories of every shipped specification that are known to be right or wrong.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "checkers/specification_linearizability.h"
#include "checkers/specifications/append_log.h"
#include "checkers/specifications/cache_register.h"
#include "checkers/specifications/cas_register.h"
#include "checkers/specifications/counter.h"
#include "checkers/specifications/expiring_register.h"
#include "checkers/specifications/key_value_map.h"
#include "checkers/specifications/lock.h"
#include "checkers/specifications/multi_register.h"
#include "checkers/specifications/queue.h"
#include "checkers/specifications/register.h"
#include "checkers/specifications/set.h"
#include "checkers/specifications/stack.h"
#include "checkers/specifications/write_once_log.h"

namespace falafel::checkers_test {
namespace {

using namespace checkers::specifications;
using checkers::Call;
using checkers::Verdict;

// Histories as one writes them down: each operation with the times of its call and its return.
template <typename S>
class Calls {
 public:
  Calls& add(std::uint64_t call_time, std::uint64_t return_time, typename S::Operation operation,
             typename S::Result result) {
    calls_.push_back({.client = static_cast<std::uint32_t>(calls_.size()),
                      .operation = std::move(operation),
                      .result = std::move(result),
                      .call_time = call_time,
                      .return_time = return_time});
    return *this;
  }
  // The operations so far precede this one, which precedes those that follow.
  Calls& then(typename S::Operation operation, typename S::Result result) {
    time_ += 2;
    return add(time_, time_ + 1, std::move(operation), std::move(result));
  }
  Calls& unanswered(std::uint64_t call_time, typename S::Operation operation) {
    calls_.push_back({.operation = std::move(operation), .call_time = call_time});
    return *this;
  }

  bool holds() const {
    const checkers::Judgement judgement = checkers::check_linearizability<S>(calls_);
    EXPECT_NE(judgement.verdict, Verdict::unknown) << judgement.explanation;
    return judgement.verdict == Verdict::holds;
  }

 private:
  std::vector<Call<S>> calls_;
  std::uint64_t time_ = 1'000;
};

TEST(RegisterSpecification, FindsTheLastWrite) {
  using S = Register;
  EXPECT_TRUE(Calls<S>().then(S::Read{}, 0).then(S::Write{1}, {}).then(S::Read{}, 1).holds());
  EXPECT_FALSE(Calls<S>().then(S::Write{1}, {}).then(S::Read{}, 0).holds());
  const auto overlapping =
      Calls<S>().add(1, 9, S::Write{1}, {}).add(1, 9, S::Write{2}, {}).add(2, 3, S::Read{}, 2);
  EXPECT_TRUE(Calls<S>(overlapping).add(4, 5, S::Read{}, 1).then(S::Read{}, 1).holds());
  EXPECT_FALSE(Calls<S>(overlapping).add(4, 5, S::Read{}, 1).add(6, 7, S::Read{}, 2).holds());
}

TEST(RegisterSpecification, AnUnansweredWriteMayHappenLater) {
  using S = Register;
  const auto late = Calls<S>().unanswered(1, S::Write{1}).then(S::Read{}, 0).then(S::Read{}, 1);
  EXPECT_TRUE(late.holds());
  EXPECT_FALSE(Calls<S>(late).then(S::Read{}, 0).holds());
}

TEST(CasRegisterSpecification, SwapsWhatItExpects) {
  using S = CasRegister;
  EXPECT_TRUE(Calls<S>()
                  .then(S::CompareAndSwap{0, 5}, {.value = 0})
                  .then(S::CompareAndSwap{0, 6}, {.value = 5, .swapped = false})
                  .then(S::CompareAndSwap{5, 7}, {.swapped = true})
                  .then(S::Read{}, {.value = 7})
                  .holds());
  EXPECT_FALSE(Calls<S>().then(S::CompareAndSwap{1, 5}, {.swapped = true}).holds());
  EXPECT_FALSE(Calls<S>().then(S::CompareAndSwap{0, 5}, {.swapped = false}).holds());
  EXPECT_FALSE(
      Calls<S>().then(S::CompareAndSwap{0, 5}, {.value = 0}).then(S::Read{}, {.value = 0}).holds());
}

TEST(CasRegisterSpecification, OnlyOneOfTwoSwapsWins) {
  using S = CasRegister;
  const auto one = Calls<S>().add(1, 9, S::CompareAndSwap{0, 1}, {.swapped = true});
  EXPECT_TRUE(Calls<S>(one).add(1, 9, S::CompareAndSwap{0, 2}, {.swapped = false}).holds());
  EXPECT_FALSE(Calls<S>(one).add(1, 9, S::CompareAndSwap{0, 2}, {.swapped = true}).holds());
}

TEST(KeyValueMapSpecification, KeysAreIndependent) {
  using S = KeyValueMap;
  const auto set = Calls<S>().then(S::Get{"a"}, S::absent()).then(S::Set{"a", "1"}, {});
  EXPECT_TRUE(
      Calls<S>(set).then(S::Get{"b"}, S::absent()).then(S::Get{"a"}, S::found("1")).holds());
  EXPECT_TRUE(
      Calls<S>(set).then(S::Remove{"a"}, S::removed()).then(S::Remove{"a"}, S::absent()).holds());
  EXPECT_FALSE(Calls<S>(set).then(S::Get{"a"}, S::absent()).holds());
  EXPECT_FALSE(Calls<S>(set).then(S::Remove{"a"}, S::absent()).holds());
  EXPECT_FALSE(Calls<S>(set).then(S::Get{"b"}, S::found("1")).holds());
}

TEST(KeyValueMapSpecification, LongKeysDiffer) {
  using S = KeyValueMap;
  const std::string start(100, 'x');
  EXPECT_TRUE(
      Calls<S>().then(S::Set{start + "1", "1"}, {}).then(S::Get{start + "2"}, S::absent()).holds());
}

TEST(AppendLogSpecification, EntriesStay) {
  using S = AppendLog;
  const auto two = Calls<S>().then(S::Append{7}, {.index = 0}).then(S::Append{8}, {});
  EXPECT_TRUE(Calls<S>(two).then(S::ReadAll{}, {.values = {7, 8}}).holds());
  EXPECT_TRUE(Calls<S>(two).then(S::ReadEntry{1}, {.values = {8}}).holds());
  EXPECT_TRUE(Calls<S>(two).then(S::ReadEntry{2}, {}).holds());
  EXPECT_TRUE(Calls<S>(two).then(S::Append{9}, {.index = 2}).holds());
  EXPECT_FALSE(Calls<S>(two).then(S::Append{9}, {.index = 1}).holds());
  EXPECT_FALSE(Calls<S>(two).then(S::ReadAll{}, {.values = {8, 7}}).holds());
  EXPECT_FALSE(Calls<S>(two).then(S::ReadEntry{1}, {}).holds());
}

TEST(CounterSpecification, EveryTicketIsDrawnOnce) {
  using S = Counter;
  const auto one = Calls<S>().add(1, 9, S::FetchAdd{1}, 0);
  EXPECT_TRUE(Calls<S>(one).add(1, 9, S::FetchAdd{1}, 1).then(S::Read{}, 2).holds());
  EXPECT_FALSE(Calls<S>(one).add(1, 9, S::FetchAdd{1}, 0).holds());
  EXPECT_FALSE(Calls<S>(one).add(1, 9, S::FetchAdd{1}, 2).holds());
  EXPECT_TRUE(Calls<S>()
                  .then(S::FetchAdd{~0ULL}, 0)
                  .then(S::FetchAdd{2}, ~0ULL)
                  .then(S::Read{}, 1)
                  .holds());
}

TEST(StackSpecification, PopsTheLastFirst) {
  using S = Stack;
  const auto pushed = Calls<S>().then(S::Push{1}, {}).then(S::Push{2}, {});
  EXPECT_TRUE(
      Calls<S>(pushed).then(S::Pop{}, 2).then(S::Pop{}, 1).then(S::Pop{}, std::nullopt).holds());
  EXPECT_FALSE(Calls<S>(pushed).then(S::Pop{}, 1).holds());
  EXPECT_FALSE(Calls<S>(pushed).then(S::Pop{}, std::nullopt).holds());
  EXPECT_FALSE(Calls<S>(pushed).then(S::Pop{}, 2).then(S::Pop{}, 2).holds());
}

TEST(QueueSpecification, PopsTheOldestFirst) {
  using S = Queue;
  const auto pushed = Calls<S>().then(S::Push{1}, {}).then(S::Push{2}, {});
  EXPECT_TRUE(
      Calls<S>(pushed).then(S::Pop{}, 1).then(S::Pop{}, 2).then(S::Pop{}, std::nullopt).holds());
  EXPECT_FALSE(Calls<S>(pushed).then(S::Pop{}, 2).holds());
  EXPECT_FALSE(Calls<S>(pushed).then(S::Pop{}, std::nullopt).holds());
  const auto concurrent = Calls<S>().add(1, 9, S::Push{1}, {}).add(1, 9, S::Push{2}, {});
  EXPECT_TRUE(Calls<S>(concurrent).then(S::Pop{}, 2).then(S::Pop{}, 1).holds());
  EXPECT_FALSE(Calls<S>(concurrent).then(S::Pop{}, 2).then(S::Pop{}, 2).holds());
}

TEST(SetSpecification, ValuesAreIndependent) {
  using S = Set;
  const auto added = Calls<S>().then(S::Add{1}, true).then(S::Add{1}, false);
  EXPECT_TRUE(Calls<S>(added).then(S::Contains{1}, true).then(S::Contains{2}, false).holds());
  EXPECT_TRUE(Calls<S>(added).then(S::Remove{1}, true).then(S::Remove{1}, false).holds());
  EXPECT_FALSE(Calls<S>(added).then(S::Contains{2}, true).holds());
  EXPECT_FALSE(Calls<S>(added).then(S::Remove{1}, false).holds());
  EXPECT_FALSE(Calls<S>().add(1, 9, S::Add{1}, true).add(1, 9, S::Add{1}, true).holds());
}

TEST(LockSpecification, HasOneHolder) {
  using S = Lock;
  const auto held = Calls<S>().then(S::Acquire{1}, true);
  EXPECT_TRUE(Calls<S>(held).then(S::TryAcquire{2}, false).then(S::Acquire{2}, false).holds());
  EXPECT_TRUE(Calls<S>(held).then(S::Release{1}, true).then(S::Acquire{2}, true).holds());
  EXPECT_TRUE(Calls<S>(held).then(S::Release{2}, false).then(S::TryAcquire{1}, false).holds());
  EXPECT_FALSE(Calls<S>(held).then(S::Acquire{2}, true).holds());
  EXPECT_FALSE(Calls<S>(held).then(S::TryAcquire{2}, true).holds());
  EXPECT_FALSE(Calls<S>(held).then(S::Release{2}, true).holds());
  EXPECT_FALSE(Calls<S>(held).then(S::Release{1}, false).holds());
  EXPECT_FALSE(Calls<S>().then(S::TryAcquire{1}, false).holds());
}

TEST(LockSpecification, AnAcquireMayGiveUp) {
  using S = Lock;
  EXPECT_TRUE(Calls<S>().then(S::Acquire{1}, false).then(S::TryAcquire{2}, true).holds());
  EXPECT_FALSE(Calls<S>().then(S::Acquire{1}, false).then(S::TryAcquire{2}, false).holds());
}

TEST(LockSpecification, AWaitingAcquireSucceedsAfterTheRelease) {
  using S = Lock;
  const auto waiting = Calls<S>().add(1, 2, S::Acquire{1}, true).add(3, 9, S::Acquire{2}, true);
  EXPECT_TRUE(Calls<S>(waiting).add(4, 5, S::Release{1}, true).holds());
  EXPECT_FALSE(Calls<S>(waiting).add(10, 11, S::Release{1}, true).holds());
  EXPECT_TRUE(Calls<S>(waiting).unanswered(4, S::Release{1}).holds());
}

TEST(MultiRegisterSpecification, ATransactionTakesEffectAtOneMoment) {
  using S = MultiRegister;
  const S::Operation write = {S::write("a", 1), S::write("b", 1)};
  const S::Operation read = {S::read("a"), S::read("b")};
  const auto writing = Calls<S>().add(1, 9, write, {});
  EXPECT_TRUE(Calls<S>(writing).add(2, 3, read, {0, 0}).add(4, 5, read, {1, 1}).holds());
  EXPECT_FALSE(Calls<S>(writing).add(2, 3, read, {1, 0}).holds());
  EXPECT_FALSE(Calls<S>(writing).add(2, 3, read, {1, 1}).add(4, 5, read, {0, 0}).holds());
  EXPECT_TRUE(Calls<S>(writing).then({S::read("b")}, {1}).holds());
}

// Each of two transactions reads what the other one writes (write skew).
TEST(MultiRegisterSpecification, OneOfTwoTransactionsSeesTheOther) {
  using S = MultiRegister;
  const S::Operation from_a = {S::read("a"), S::write("b", 1)};
  const S::Operation from_b = {S::read("b"), S::write("a", 1)};
  const auto one = Calls<S>().add(1, 9, from_a, {0});
  EXPECT_TRUE(Calls<S>(one).add(1, 9, from_b, {1}).holds());
  EXPECT_FALSE(Calls<S>(one).add(1, 9, from_b, {0}).holds());
}

TEST(MultiRegisterSpecification, ATransactionReadsItsOwnWrites) {
  using S = MultiRegister;
  const S::Operation twice = {S::read("a"), S::write("a", 1), S::read("a")};
  EXPECT_TRUE(
      Calls<S>().then(twice, {0, 1}).then({S::write("a", 0)}, {}).then(twice, {0, 1}).holds());
  EXPECT_FALSE(Calls<S>().then(twice, {0, 0}).holds());
  EXPECT_EQ(S::describe(twice, nullptr), "{read \"a\" -> ?, write \"a\" 1, read \"a\" -> ?}");
}

TEST(WriteOnceLogSpecification, WritesEachPositionOnce) {
  using S = WriteOnceLog;
  const auto written = Calls<S>().then(S::Append{7}, S::at(3)).then(S::Write{1, 8}, S::yes());
  EXPECT_TRUE(Calls<S>(written).then(S::Read{3}, S::found(7)).holds());
  EXPECT_TRUE(Calls<S>(written).then(S::Read{2}, S::unwritten()).holds());
  EXPECT_TRUE(Calls<S>(written).then(S::Write{3, 9}, S::no()).holds());
  EXPECT_TRUE(Calls<S>(written).then(S::Append{9}, S::at(0)).holds());  // a gap that was left
  EXPECT_FALSE(Calls<S>(written).then(S::Append{9}, S::at(1)).holds());
  EXPECT_FALSE(Calls<S>(written).then(S::Write{3, 7}, S::yes()).holds());
  EXPECT_FALSE(Calls<S>(written).then(S::Write{2, 9}, S::no()).holds());
  EXPECT_FALSE(Calls<S>(written).then(S::Read{3}, S::unwritten()).holds());
  EXPECT_FALSE(Calls<S>(written).then(S::Read{3}, S::found(8)).holds());
  EXPECT_FALSE(Calls<S>(written).then(S::Read{3}, S::hole()).holds());
}

TEST(WriteOnceLogSpecification, AHoleStays) {
  using S = WriteOnceLog;
  const auto filled = Calls<S>().then(S::Fill{0}, S::yes());
  EXPECT_TRUE(Calls<S>(filled).then(S::Fill{0}, S::yes()).then(S::Read{0}, S::hole()).holds());
  EXPECT_TRUE(Calls<S>(filled).then(S::Write{0, 1}, S::no()).holds());
  EXPECT_FALSE(Calls<S>(filled).then(S::Write{0, 1}, S::yes()).holds());
  EXPECT_FALSE(Calls<S>(filled).then(S::Append{1}, S::at(0)).holds());
  EXPECT_FALSE(Calls<S>(filled).then(S::Read{0}, S::unwritten()).holds());
  EXPECT_FALSE(Calls<S>(filled).then(S::Fill{0}, S::no()).holds());
  EXPECT_FALSE(Calls<S>().then(S::Read{0}, S::hole()).holds());
  const auto written = Calls<S>().then(S::Write{0, 1}, S::yes());
  EXPECT_TRUE(Calls<S>(written).then(S::Fill{0}, S::no()).holds());
  EXPECT_FALSE(Calls<S>(written).then(S::Fill{0}, S::yes()).holds());
  EXPECT_FALSE(Calls<S>(written).then(S::Fill{0}, S::yes()).then(S::Read{0}, S::hole()).holds());
}

TEST(WriteOnceLogSpecification, AnUnansweredAppendTakesOnePosition) {
  using S = WriteOnceLog;
  const auto lost = Calls<S>().unanswered(1, S::Append{7});
  const auto late = Calls<S>(lost).then(S::Read{5}, S::unwritten()).then(S::Read{5}, S::found(7));
  EXPECT_TRUE(late.holds());
  EXPECT_FALSE(Calls<S>(late).then(S::Read{4}, S::found(7)).holds());
  EXPECT_FALSE(Calls<S>(late).then(S::Read{5}, S::unwritten()).holds());
  EXPECT_FALSE(Calls<S>(late).then(S::Write{4, 1}, S::no()).holds());
  const auto taken = Calls<S>(lost).then(S::Write{5, 1}, S::no());
  EXPECT_TRUE(Calls<S>(taken).then(S::Fill{5}, S::no()).then(S::Read{5}, S::found(7)).holds());
  EXPECT_FALSE(Calls<S>(taken).then(S::Read{4}, S::found(7)).holds());
  EXPECT_FALSE(Calls<S>(taken).then(S::Read{5}, S::hole()).holds());
  EXPECT_FALSE(Calls<S>(taken).then(S::Append{2}, S::at(5)).holds());
  EXPECT_FALSE(Calls<S>().then(S::Read{5}, S::found(7)).holds());
}

TEST(CacheRegisterSpecification, AValueMayVanishButNotComeBack) {
  using S = CacheRegister;
  const auto set = Calls<S>().then(S::Set{"a", "1"}, {});
  EXPECT_TRUE(
      Calls<S>(set).then(S::Get{"a"}, S::found("1")).then(S::Get{"a"}, S::absent()).holds());
  EXPECT_FALSE(
      Calls<S>(set).then(S::Get{"a"}, S::absent()).then(S::Get{"a"}, S::found("1")).holds());
  EXPECT_FALSE(Calls<S>(set).then(S::Set{"a", "2"}, {}).then(S::Get{"a"}, S::found("1")).holds());
  EXPECT_FALSE(
      Calls<S>(set).then(S::Remove{"a"}, S::removed()).then(S::Get{"a"}, S::found("1")).holds());
  EXPECT_FALSE(
      Calls<S>(set).then(S::Remove{"a"}, S::absent()).then(S::Get{"a"}, S::found("1")).holds());
  EXPECT_FALSE(Calls<S>().then(S::Remove{"a"}, S::removed()).holds());
}

TEST(CacheRegisterSpecification, ALostSetMayComeLate) {
  using S = CacheRegister;
  const auto late = Calls<S>().unanswered(1, S::Set{"a", "1"}).then(S::Get{"a"}, S::absent());
  EXPECT_TRUE(Calls<S>(late).then(S::Get{"a"}, S::found("1")).holds());
}

// Without lookahead, the search would try many orders of the concurrent writes.
TEST(RegisterSpecification, ManyConcurrentWritesOfDifferentValuesAreEasy) {
  using S = Register;
  Calls<S> calls;
  for (std::uint64_t value = 1; value <= 40; ++value) {
    calls.add(1, 1'000, S::Write{value}, {});
    calls.add(2 * value, 2 * value + 1, S::Read{}, value);
  }
  EXPECT_TRUE(calls.holds());
  calls.add(100, 101, S::Read{}, 1);
  EXPECT_FALSE(calls.holds());
}

TEST(Specifications, DescribeOperations) {
  const bool yes = true;
  const Queue::Result nothing;
  EXPECT_EQ(Queue::describe(Queue::Push{7}, nullptr), "push 7");
  EXPECT_EQ(Queue::describe(Queue::Pop{}, &nothing), "pop -> nothing");
  EXPECT_EQ(Queue::describe(Queue::Pop{}, nullptr), "pop -> ?");
  EXPECT_EQ(Queue::describe(Queue::State{1, 2}), "[1, 2]");
  EXPECT_EQ(Lock::describe(Lock::Acquire{3}, &yes), "acquire by 3 -> yes");
  EXPECT_EQ(KeyValueMap::describe(KeyValueMap::Set{"a", "b"}, nullptr), "set \"a\" to \"b\"");
}

using ExpiringGet = ExpiringRegister::Get;
using ExpiringSet = ExpiringRegister::Set;
using ExpiringRemove = ExpiringRegister::Remove;

ExpiringRegister::Operation at(std::uint64_t call_ns, ExpiringRegister::Map::Operation operation,
                               ExpiringRegister::Lifetime lifetime = {}) {
  return {.operation = std::move(operation),
          .call_ns = call_ns,
          .return_ns = call_ns + 10,
          .lifetime = lifetime};
}

TEST(ExpiringRegisterSpecification, KeepsAValueUntilItsTime) {
  using S = ExpiringRegister;
  const auto set = Calls<S>().then(at(0, ExpiringSet{"k", "1"}, {100, 130}), {});
  EXPECT_TRUE(Calls<S>(set).then(at(50, ExpiringGet{"k"}), S::found("1")).holds());
  EXPECT_FALSE(Calls<S>(set).then(at(89, ExpiringGet{"k"}), S::absent()).holds());
  EXPECT_TRUE(Calls<S>(set).then(at(90, ExpiringGet{"k"}), S::absent()).holds());
  EXPECT_TRUE(Calls<S>(set).then(at(129, ExpiringGet{"k"}), S::found("1")).holds());
  EXPECT_FALSE(Calls<S>(set).then(at(130, ExpiringGet{"k"}), S::found("1")).holds());
  EXPECT_TRUE(Calls<S>(set).then(at(130, ExpiringRemove{"k"}), S::removed()).holds());
}

TEST(ExpiringRegisterSpecification, NeverFindsAValueAgain) {
  using S = ExpiringRegister;
  const auto gone = Calls<S>()
                        .then(at(0, ExpiringSet{"k", "1"}, {100, 130}), {})
                        .then(at(100, ExpiringGet{"k"}), S::absent());
  EXPECT_TRUE(gone.holds());
  EXPECT_FALSE(Calls<S>(gone).then(at(110, ExpiringGet{"k"}), S::found("1")).holds());
  const auto again = Calls<S>(gone).then(at(120, ExpiringSet{"k", "2"}), {});
  EXPECT_TRUE(Calls<S>(again).then(at(999, ExpiringGet{"k"}), S::found("2")).holds());
  EXPECT_FALSE(Calls<S>(again).then(at(999, ExpiringGet{"k"}), S::absent()).holds());
  EXPECT_FALSE(Calls<S>(again).then(at(121, ExpiringGet{"k"}), S::found("1")).holds());
}

TEST(ExpiringRegisterSpecification, EvictsWhatMayVanishAtOnce) {
  using S = ExpiringRegister;
  const auto set = Calls<S>().then(at(0, ExpiringSet{"k", "1"}, {0, S::never_ns}), {});
  const auto gone = Calls<S>(set).then(at(1, ExpiringGet{"k"}), S::absent());
  EXPECT_TRUE(gone.holds());
  EXPECT_FALSE(Calls<S>(gone).then(at(2, ExpiringGet{"k"}), S::found("1")).holds());
  EXPECT_TRUE(Calls<S>(set).then(at(999, ExpiringGet{"k"}), S::found("1")).holds());
}

}  // namespace
}  // namespace falafel::checkers_test
