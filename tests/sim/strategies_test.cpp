#include "fabric/sim/strategies/make_strategy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "fabric/sim/strategies/pct_strategy.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "tests/sim/questioner.h"

namespace falafel::sim {
namespace {

ChoicePoint point(std::uint64_t bound, ChoiceKind kind = ChoiceKind::program) {
  return {.kind = kind, .bound = bound, .step = 0, .trace_hash = 0};
}

// -------------------------------------------------------------------------------------------------
// Random

TEST(RandomStrategy, SchedulesEveryActorEquallyOften) {
  RandomStrategy strategy(1);
  std::vector<int> counts(5);
  for (int decision = 0; decision < 50'000; ++decision) {
    ++counts.at(scheduled(strategy, actors_up_to(5)));
  }
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

TEST(RandomStrategy, AnswersTheSameForTheSameSeedOnly) {
  RandomStrategy first(1);
  RandomStrategy same(1);
  RandomStrategy other(2);
  const auto recorded = record(first, 0, 100);
  EXPECT_EQ(record(same, 0, 100), recorded);
  EXPECT_NE(record(other, 0, 100), recorded);
}

// -------------------------------------------------------------------------------------------------
// PCT

// Without changes, actors have a fixed priority order, and the highest runnable one always runs.
TEST(PctStrategy, RunsTheHighestOfAFixedOrder) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    PctStrategy strategy(seed, 1, 1'000);
    std::vector<ActorId> remaining = actors_up_to(8);
    std::vector<ActorId> order;
    while (remaining.size() > 1) {
      order.push_back(scheduled(strategy, remaining));
      std::erase(remaining, order.back());
    }
    order.push_back(remaining.front());
    for (std::size_t high = 0; high < order.size(); ++high) {
      for (std::size_t low = high + 1; low < order.size(); ++low) {
        EXPECT_EQ(scheduled(strategy, {order[high], order[low]}), order[high]);
        EXPECT_EQ(scheduled(strategy, {order[low], order[high]}), order[high]);
      }
    }
  }
}

TEST(PctStrategy, ChangesAtMostDepthMinusOneTimes) {
  std::set<int> seen;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    PctStrategy strategy(seed, 4, 200);
    int changes = 0;
    ActorId running = scheduled(strategy, actors_up_to(6));
    for (int decision = 0; decision < 400; ++decision) {
      const ActorId next = scheduled(strategy, actors_up_to(6));
      changes += next == running ? 0 : 1;
      running = next;
    }
    EXPECT_LE(changes, 3);
    seen.insert(changes);
  }
  EXPECT_TRUE(seen.contains(3));
}

TEST(PctStrategy, WhoeverFellStaysBelowThoseWhoDidNot) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    PctStrategy strategy(seed, 2, 50);
    const ActorId first = scheduled(strategy, {0, 1});
    for (int decision = 0; decision < 50; ++decision) scheduled(strategy, {0, 1});
    EXPECT_NE(scheduled(strategy, {0, 1}), first);
    EXPECT_NE(scheduled(strategy, {first, 2}), first);
  }
}

TEST(PctStrategy, SpreadsTheChangesOverAllSteps) {
  constexpr std::uint64_t steps = 10;
  std::vector<int> counts(steps + 1);
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    PctStrategy strategy(seed, 2, steps);
    const ActorId first = scheduled(strategy, {0, 1});
    std::size_t decision = 1;
    while (decision < steps && scheduled(strategy, {0, 1}) == first) ++decision;
    ++counts.at(decision);
  }
  EXPECT_EQ(counts[0], 0);
  for (std::size_t decision = 1; decision <= steps; ++decision) {
    EXPECT_NEAR(counts[decision], 1'000, 200) << "change after decision " << decision;
  }
}

// Two actors of three steps each have 20 interleavings.
TEST(PctStrategy, ReachesEveryInterleavingOfTwoActors) {
  std::set<std::string> reached;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    PctStrategy strategy(seed, 6, 6);
    std::vector<int> steps_left = {3, 3};
    std::string interleaving;
    while (steps_left[0] > 0 && steps_left[1] > 0) {
      const ActorId actor = scheduled(strategy, {0, 1});
      interleaving += static_cast<char>('a' + actor);
      --steps_left[actor];
    }
    reached.insert(interleaving.append(static_cast<std::size_t>(steps_left[0]), 'a')
                       .append(static_cast<std::size_t>(steps_left[1]), 'b'));
  }
  EXPECT_EQ(reached.size(), 20U);
}

TEST(PctStrategy, ChoosesEverythingElseAtRandom) {
  PctStrategy strategy(1, 3, 100);
  std::vector<int> counts(4);
  for (int choice = 0; choice < 40'000; ++choice) ++counts.at(strategy.choose(point(4)));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

TEST(ChoiceKind, HasANameForEachValue) {
  std::set<std::string_view> names;
  for (std::size_t index = 0; index < choice_kind_count; ++index) {
    names.insert(to_string(static_cast<ChoiceKind>(index)));
  }
  EXPECT_EQ(names.size(), choice_kind_count);
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace falafel::sim
