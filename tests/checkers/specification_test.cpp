// The checker of histories by a sequential specification.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "checkers/specification_linearizability.h"

namespace falafel::checkers_test {
namespace {

using namespace checkers;

struct Tally {
  using State = std::int64_t;
  using Operation = std::int64_t;
  using Result = std::int64_t;
  static State initial() { return 0; }
  static bool apply(State& state, const Operation& addend, const Result* before) {
    const bool is_right = before == nullptr || *before == state;
    state += addend;
    return is_right;
  }
  static std::string describe(const Operation& addend, const Result* before) {
    return fmt::format("add {} -> {}", addend, before ? std::to_string(*before) : "?");
  }
};
static_assert(Specification<Tally>);

Call<Tally> added(std::uint32_t client, std::uint64_t call_time, std::uint64_t return_time,
                  std::int64_t addend, std::int64_t before) {
  return {.client = client,
          .operation = addend,
          .result = before,
          .call_time = call_time,
          .return_time = return_time};
}

Call<Tally> lost(Call<Tally> call) {
  call.result.reset();
  return call;
}

Verdict judge(const std::vector<Call<Tally>>& history) {
  return check_linearizability<Tally>(history).verdict;
}

TEST(SpecificationChecker, OrdersConcurrentOperations) {
  EXPECT_EQ(judge({}), Verdict::holds);
  EXPECT_EQ(judge({added(1, 1, 4, 5, 7), added(2, 2, 3, 7, 0)}), Verdict::holds);
  EXPECT_EQ(judge({added(1, 1, 2, 5, 7), added(2, 3, 4, 7, 0)}), Verdict::violated);
  EXPECT_EQ(judge({added(1, 1, 4, 5, 0), added(2, 2, 3, 7, 0)}), Verdict::violated);
}

TEST(SpecificationChecker, UnansweredOperationsHappenOnceOrNot) {
  const Call<Tally> unanswered = lost(added(1, 1, 0, 5, 0));
  EXPECT_EQ(judge({unanswered, added(2, 2, 3, 1, 0)}), Verdict::holds);
  EXPECT_EQ(judge({unanswered, added(2, 2, 3, 1, 5)}), Verdict::holds);
  EXPECT_EQ(judge({unanswered, unanswered, added(2, 2, 3, 1, 10)}), Verdict::holds);
  EXPECT_EQ(judge({unanswered, added(2, 2, 3, 1, 10)}), Verdict::violated);
}

TEST(SpecificationChecker, RefusedOperationsAreLeftOut) {
  SpecificationHistory<Tally> history;
  const std::size_t refused = history.call(1, 1, 5);
  history.refuse(2, refused);
  const std::size_t counted = history.call(3, 1, 7);
  history.complete(4, counted, 0);
  EXPECT_EQ(check_linearizability(history).verdict, Verdict::holds);
}

TEST(SpecificationChecker, ExplainsWhatDoesNotFit) {
  const std::vector<Call<Tally>> history = {added(1, 1, 2, 5, 0), added(2, 3, 6, 1, 5),
                                            added(3, 4, 5, 1, 9)};
  EXPECT_EQ(check_linearizability<Tally>(history).explanation,
            "the object: no order of its 3 operations is correct. The longest correct prefix has 1 "
            "operations:\n"
            "  1. client 1: add 5 -> 0 (call 1, return 2)\n"
            "Now the object has the state that this order leaves. The following operation must "
            "come next, before it returns at 5, but its answer is wrong:\n"
            "  client 3: add 1 -> 9 (call 4, return 5)\n"
            "Ordering these concurrent operations first, in any order, does not help:\n"
            "  client 2: add 1 -> 5 (call 3, return 6)\n");
}

TEST(SpecificationChecker, NamesTheLimitItReached) {
  std::vector<Call<Tally>> history;
  for (std::uint32_t client = 1; client <= 20; ++client) {
    history.push_back(added(client, 1, 2, std::int64_t{1} << client, 1));
  }
  for (Call<Tally>& call : history) call.result = std::nullopt;
  history.push_back(added(30, 3, 4, 1, 1));
  const Judgement unknown = check_linearizability<Tally>(history, {.steps = 1'000});
  EXPECT_EQ(unknown.verdict, Verdict::unknown);
  EXPECT_NE(unknown.explanation.find("at the limit of 1000 steps"), std::string::npos)
      << unknown.explanation;
  const Judgement full =
      check_linearizability<Tally>(history, {.steps = 1'000'000'000, .memory_bytes = 100'000});
  EXPECT_EQ(full.verdict, Verdict::unknown);
  EXPECT_NE(full.explanation.find("bytes of memory"), std::string::npos) << full.explanation;
}

// A coin that shows either side whenever it is thrown, and independent coins by name.
struct Coins {
  struct Throw {
    std::string coin;
    bool is_look = false;
  };
  using State = int;
  using Operation = Throw;
  using Result = int;
  static State initial() { return 0; }
  static void next_states(const State& state, const Operation& operation, const Result* seen,
                          std::vector<State>& next) {
    if (!operation.is_look) {
      next.insert(next.end(), {0, 1});
    } else if (seen == nullptr || *seen == state) {
      next.push_back(state);
    }
  }
  static std::string partition(const Operation& operation) { return operation.coin; }
  static std::string describe(const Operation& operation, const Result* seen) {
    return (operation.is_look ? "look at " : "throw ") + operation.coin +
           (seen ? " -> " + std::to_string(*seen) : "");
  }
  static std::string describe(const State& state) { return std::to_string(state); }
};

Call<Coins> coin(const std::string& name, std::uint64_t time, bool is_look, int seen) {
  return {.client = 1,
          .operation = {.coin = name, .is_look = is_look},
          .result = seen,
          .call_time = time,
          .return_time = time};
}

TEST(SpecificationChecker, FollowsAllStatesOfANondeterministicObject) {
  std::vector<Call<Coins>> history = {coin("a", 1, false, 0), coin("a", 2, true, 1),
                                      coin("a", 3, true, 1), coin("b", 4, true, 0)};
  EXPECT_EQ(check_linearizability<Coins>(history).verdict, Verdict::holds);
  history.push_back(coin("a", 5, true, 0));
  const LinearizabilityReport report = SpecificationChecker<Coins>().report(history);
  EXPECT_EQ(report.judgement.verdict, Verdict::violated);
  EXPECT_EQ(report.key, "a");
  EXPECT_EQ(report.longest_prefix, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_NE(report.judgement.explanation.find("Now the state is 1."), std::string::npos)
      << report.judgement.explanation;
  history.pop_back();
  history.push_back(coin("b", 5, true, 1));
  EXPECT_EQ(SpecificationChecker<Coins>().report(history).key, "b");
}

}  // namespace
}  // namespace falafel::checkers_test
