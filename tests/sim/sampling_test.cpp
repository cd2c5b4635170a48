// The promises of the strategies POS and URW: how likely the interleavings of small programs are.
// The seeds are fixed, so the counts are the same in each run of a test; the bounds are those that
// a correct strategy exceeds for fewer than one in a thousand choices of seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/actor_names.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "fabric/sim/strategies/pos_strategy.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "fabric/sim/strategies/step_counter.h"
#include "fabric/sim/strategies/urw_strategy.h"
#include "tests/sim/workload.h"

namespace falafel::sim {
namespace {

// An actor whose steps access one word, or as many words as it has, one after the other.
struct ToyActor {
  std::uint64_t steps = 0;
  std::uint64_t word = 0;  // the first
  std::uint64_t words = 1;
  Access access = Access::writes;
  // It can move only after this many steps of that actor.
  std::optional<ActorId> parent{};
  std::uint64_t parent_steps = 0;
};

Touch touch_of_words(const ToyActor& actor, std::uint64_t first, std::uint64_t count) {
  return {Touchable::memory, 0, actor.access, 8 * first, 8 * (first + count)};
}

class ToyProgram {
 public:
  explicit ToyProgram(std::vector<ToyActor> actors) : actors_(std::move(actors)) {}

  // Returns who made which step: "aab".
  std::string run(Strategy& strategy) const {
    StepObserver* const observer = strategy.step_observer();
    std::vector<std::uint64_t> made(actors_.size());
    std::string order;
    for (ActorId actor = 0; actor < actors_.size() && observer != nullptr; ++actor) {
      observer->will_touch(
          actor, touch_of_words(actors_[actor], actors_[actor].word, actors_[actor].words));
    }
    for (std::vector<ActorId> ready; !(ready = find_ready(made)).empty();) {
      if (observer != nullptr) {
        EXPECT_TRUE(observer->begin_step(ready, 0));
      }
      const ChoicePoint point{.kind = ChoiceKind::schedule, .bound = ready.size()};
      const ActorId actor =
          ready.size() == 1 ? ready.front() : ready.at(strategy.schedule(point, ready));
      const ToyActor& mover = actors_[actor];
      const std::uint64_t word = mover.word + std::min(made[actor], mover.words - 1);
      if (observer != nullptr) observer->touch(touch_of_words(mover, word, 1));
      ++made[actor];
      order += static_cast<char>('a' + actor);
    }
    return order;
  }

 private:
  std::vector<ActorId> find_ready(const std::vector<std::uint64_t>& made) const {
    std::vector<ActorId> ready;
    for (ActorId id = 0; id < actors_.size(); ++id) {
      const ToyActor& actor = actors_[id];
      const bool is_born = !actor.parent || made[*actor.parent] >= actor.parent_steps;
      if (is_born && made[id] < actor.steps) ready.push_back(id);
    }
    return ready;
  }

  std::vector<ToyActor> actors_;
};

// -------------------------------------------------------------------------------------------------
// POS

constexpr std::uint64_t pos_seeds = 16'000;

// How many runs take this order.
double runs_in_order(std::string_view order, const ToyActor& first, const ToyActor& second) {
  const ToyProgram program({first, second});
  int runs = 0;
  for (std::uint64_t seed = 0; seed < pos_seeds; ++seed) {
    PosStrategy strategy(seed);
    runs += program.run(strategy) == order ? 1 : 0;
  }
  return runs;
}

constexpr std::string_view last_step_late = "aaaaaaab";

// The step keeps its priority, which is the lowest of eight with probability 1 / 8.
TEST(PosStrategy, StepsThatRaceWithNoneComeLastAsOftenAsAnyOther) {
  EXPECT_NEAR(runs_in_order(last_step_late, {.steps = 7, .word = 0}, {.steps = 1, .word = 1}),
              2'000, 150);
  EXPECT_NEAR(runs_in_order(last_step_late, {.steps = 7, .access = Access::reads},
                            {.steps = 1, .access = Access::reads}),
              2'000, 150);
}

// Each step of the first actor gives the step of the second one a new priority, so that it comes
// last with probability 1 / 2^7.
TEST(PosStrategy, DecidesRacesOneByOne) {
  EXPECT_NEAR(runs_in_order(last_step_late, {.steps = 7}, {.steps = 1}), 125, 45);
  EXPECT_NEAR(runs_in_order(last_step_late, {.steps = 7, .access = Access::reads}, {.steps = 1}),
              125, 45);
}

// A request that has touched a part of its words will touch the others. The order has the
// probability 1 / 2 * 1 / 3 * 1 / 2^6: the first step of the first actor keeps its low priority,
// and its other steps are decided one by one.
TEST(PosStrategy, ExpectsRequestsToTouchAllTheirWords) {
  EXPECT_NEAR(runs_in_order("baaaaaaab", {.steps = 7, .word = 3}, {.steps = 2, .words = 4}), 42,
              25);
}

TEST(PosStrategy, ReachesEveryInterleavingOfTwoActors) {
  const ToyProgram program({{.steps = 3, .word = 0}, {.steps = 3, .word = 1}});
  std::map<std::string, std::uint64_t> reached;
  for (std::uint64_t seed = 0; seed < pos_seeds; ++seed) {
    PosStrategy strategy(seed);
    ++reached[program.run(strategy)];
  }
  EXPECT_EQ(reached.size(), 20U);
}

// -------------------------------------------------------------------------------------------------
// URW

// How far the interleavings are from being equally likely: the chi-squared statistic.
template <typename MakeStrategy>
double distance_from_uniform(const ToyProgram& program, std::size_t interleavings,
                             MakeStrategy make) {
  constexpr std::uint64_t runs_per_interleaving = 200;
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t seed = 0; seed < runs_per_interleaving * interleavings; ++seed) {
    ++counts[program.run(*make(seed))];
  }
  EXPECT_LE(counts.size(), interleavings);
  double distance = runs_per_interleaving * static_cast<double>(interleavings - counts.size());
  for (const auto& [order, count] : counts) {
    const double excess = static_cast<double>(count) - runs_per_interleaving;
    distance += excess * excess / runs_per_interleaving;
  }
  return distance;
}

// The number that a correct strategy exceeds with probability 1 / 1,000: the approximation of
// Wilson and Hilferty.
double largest_distance(std::size_t interleavings) {
  const auto freedom = static_cast<double>(interleavings - 1);
  return freedom * std::pow(1 - 2 / (9 * freedom) + 3.09 * std::sqrt(2 / (9 * freedom)), 3);
}

std::unique_ptr<Strategy> make_urw(const ToyProgram& program, std::uint64_t seed) {
  StepCounter counter(~seed);
  program.run(counter);
  return std::make_unique<UrwStrategy>(seed, counter.counts());
}

// 8! / (2! 6!) interleavings.
TEST(UrwStrategy, SamplesInterleavingsUniformly) {
  const ToyProgram program({{.steps = 2}, {.steps = 6}});
  const double bound = largest_distance(28);
  EXPECT_LT(distance_from_uniform(program, 28,
                                  [&](std::uint64_t seed) { return make_urw(program, seed); }),
            bound);
  // A random walk does not, nor does this strategy without an earlier run.
  EXPECT_GT(
      distance_from_uniform(
          program, 28, [](std::uint64_t seed) { return std::make_unique<RandomStrategy>(seed); }),
      10 * bound);
  EXPECT_GT(distance_from_uniform(program, 28,
                                  [](std::uint64_t seed) {
                                    return std::make_unique<UrwStrategy>(seed, StepCounts{});
                                  }),
            10 * bound);
}

// An actor stands for those that it will bring, and no longer for those that it has brought. In the
// first program, the second actor brings the third one with its last step, so the two are like one
// actor with five steps: 9! / (4! 5!) interleavings. In the second one, they go on side by side:
// 7! / (2! 5!) * 4! / (2! 2!).
TEST(UrwStrategy, CountsTheStepsOfActorsThatAnActorWillBring) {
  const ToyProgram one_after_the_other(
      {{.steps = 4}, {.steps = 2}, {.steps = 3, .parent = 1, .parent_steps = 2}});
  const ToyProgram side_by_side(
      {{.steps = 2}, {.steps = 3}, {.steps = 2, .parent = 1, .parent_steps = 1}});
  for (const ToyProgram& program : {one_after_the_other, side_by_side}) {
    EXPECT_LT(distance_from_uniform(program, 126,
                                    [&](std::uint64_t seed) { return make_urw(program, seed); }),
              largest_distance(126));
  }
}

// The numbers of new actors depend on the order in which they are made; their names do not.
TEST(ActorNames, AreTheSameWhateverTheNumbers) {
  const auto names_of = [](std::vector<ActorId> children) {
    ActorNames names;
    const auto ignore = [](ActorId) {};
    names.see(std::vector<ActorId>{0, 1}, std::nullopt, ignore);
    names.see(std::vector<ActorId>{0, 1, children[0]}, ActorId{0}, ignore);
    names.see(std::vector<ActorId>{0, 1, children[1]}, ActorId{1}, ignore);
    names.see(std::vector<ActorId>{0, 1, children[2]}, ActorId{0}, ignore);
    std::vector<ActorName> all;
    for (const ActorId actor : {ActorId{0}, ActorId{1}, children[0], children[1], children[2]}) {
      all.push_back(names.name(actor));
    }
    return all;
  };
  const std::vector<ActorName> names = names_of({2, 3, 4});
  EXPECT_EQ(names_of({4, 2, 3}), names);
  EXPECT_EQ(std::set<ActorName>(names.begin(), names.end()).size(), names.size());
}

// -------------------------------------------------------------------------------------------------
// All strategies, on the simulator

std::unique_ptr<Strategy> make_of_kind(StrategyKind kind, std::uint64_t seed) {
  return make_strategy({.strategy = kind}, seed);
}

std::vector<StrategyKind> all_kinds() {
  std::vector<StrategyKind> kinds;
  for (std::size_t index = 0; index < strategy_kind_count; ++index) {
    kinds.push_back(static_cast<StrategyKind>(index));
  }
  return kinds;
}

TEST(AnyStrategy, TakesTheSameCourseForTheSameSeedOnly) {
  fabric::FiberStackPool stacks;
  SimulationOptions options;
  options.set_fault_rate(FaultKind::client_crash, 200);
  options.set_fault_rate(FaultKind::queue_pair_error, 100);
  options.step_limit = 20'000;
  for (const StrategyKind kind : all_kinds()) {
    const auto hash = [&](std::uint64_t seed) {
      return run_workload({}, options, *make_of_kind(kind, seed), stacks).trace_hash;
    };
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const std::uint64_t first = hash(seed);
      ASSERT_EQ(hash(seed), first) << to_string(kind) << ", seed " << seed;
      ASSERT_NE(hash(seed + 1), first) << to_string(kind) << ", seed " << seed;
    }
  }
}

TEST(UrwStrategy, TakesTheSameCourseAfterTheSameEarlierRun) {
  fabric::FiberStackPool stacks;
  const auto hash = [&](std::uint64_t earlier_seed) {
    StepCounter counter(earlier_seed);
    run_workload({}, {}, counter, stacks);
    UrwStrategy strategy(1, counter.counts());
    return run_workload({}, {}, strategy, stacks).trace_hash;
  };
  EXPECT_EQ(hash(2), hash(2));
  // The earlier run counts: another one leads to another course, and so does none.
  EXPECT_NE(hash(2), run_workload({}, {}, *make_of_kind(StrategyKind::urw, 1), stacks).trace_hash);
}

// Two hosts: one polls until the other one has made its steps.
Outcome outcome_of_polling(StrategyKind kind, std::uint64_t seed) {
  fabric::FiberStackPool stacks;
  const SimulationOptions options{.strategy = kind, .pct_depth = 1, .step_limit = 100'000};
  const auto strategy = make_strategy(options, seed);
  bool is_done = false;
  Simulation simulation(options, *strategy, stacks);
  simulation.add_host({.name = "polling"}, [&](fabric::Host& host) {
    while (!is_done) host.yield();
  });
  simulation.add_host({.name = "working"}, [&](fabric::Host& host) {
    for (int step = 0; step < 10; ++step) host.yield();
    is_done = true;
  });
  return simulation.run().outcome;
}

// Only PCT starves the other one: its priorities are strict.
TEST(AnyStrategy, LetsNoPollingFiberStarveTheOthers) {
  constexpr std::uint64_t seeds = 100;
  for (const StrategyKind kind : {StrategyKind::random, StrategyKind::pos, StrategyKind::urw}) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      EXPECT_EQ(outcome_of_polling(kind, seed), Outcome::completed)
          << to_string(kind) << ", seed " << seed;
    }
  }
}

// -------------------------------------------------------------------------------------------------
// What the simulator says of steps before they are made

// Collects which memory each actor will touch, and marks what it has touched.
class Announcements final : public Strategy, public StepObserver {
 public:
  struct Announced {
    ActorId actor = 0;
    Touch touch{};
    bool is_met = false;
  };

  std::uint64_t choose(const ChoicePoint& point) override { return random_.choose(point); }
  std::uint64_t schedule(const ChoicePoint& point, std::span<const ActorId> actors) override {
    const std::uint64_t chosen = random_.schedule(point, actors);
    mover_ = actors[chosen];
    return chosen;
  }
  StepObserver* step_observer() override { return this; }
  bool begin_step(std::span<const ActorId> ready, std::uint64_t /*time_ns*/) override {
    mover_ = ready.front();
    return true;
  }
  bool begin_jump() override { return true; }
  void touch(const Touch& touch) override {
    for (Announced& announced : all_) {
      const Touch& expected = announced.touch;
      const bool is_part = touch.object == expected.object && touch.number == expected.number &&
                           expected.begin <= touch.begin && touch.end <= expected.end;
      if (announced.actor == mover_ && is_part && touch.access == expected.access) {
        announced.is_met = true;
      }
    }
  }
  void will_touch(ActorId actor, const Touch& touch) override {
    all_.push_back({.actor = actor, .touch = touch});
  }
  void end_run() override {}

  const std::vector<Announced>& all() const { return all_; }

 private:
  RandomStrategy random_{1};
  ActorId mover_ = 0;
  std::vector<Announced> all_;
};

// A CAS that does not match only reads its word, so it may differ from what was announced.
TEST(StepObserver, HearsWhatRequestsWillTouch) {
  fabric::FiberStackPool stacks;
  SimulationOptions options;
  options.failing_cas_writes_back = true;
  Announcements announcements;
  run_workload({.clients = 4, .operations = 12}, options, announcements, stacks);
  EXPECT_GT(announcements.all().size(), 10U);
  for (const Announcements::Announced& announced : announcements.all()) {
    EXPECT_TRUE(announced.is_met) << "actor " << announced.actor << ", bytes "
                                  << announced.touch.begin << " to " << announced.touch.end;
  }
}

// Collects touches of the kinds that it wants to hear of.
class Hearer final : public Strategy, public StepObserver {
 public:
  explicit Hearer(Touchables heard) : heard_(heard) {}

  std::uint64_t choose(const ChoicePoint& point) override { return random_.choose(point); }
  std::uint64_t schedule(const ChoicePoint& point, std::span<const ActorId> actors) override {
    return random_.schedule(point, actors);
  }
  StepObserver* step_observer() override { return this; }
  Touchables heard_touchables() const override { return heard_; }
  bool begin_step(std::span<const ActorId> /*ready*/, std::uint64_t /*time_ns*/) override {
    return true;
  }
  bool begin_jump() override { return true; }
  void touch(const Touch& touch) override { ++touches_[touch.object]; }
  void end_run() override {}

  const std::map<Touchable, std::uint64_t>& touches() const { return touches_; }

 private:
  RandomStrategy random_{1};
  Touchables heard_;
  std::map<Touchable, std::uint64_t> touches_;
};

// The run and what it touches stay the same, whoever listens.
TEST(StepObserver, HearsOnlyTheKindsThatItNames) {
  fabric::FiberStackPool stacks;
  Hearer all(all_touchables);
  run_workload({.clients = 2, .operations = 12}, {}, all, stacks);
  for (const Touchable kind :
       {Touchable::memory, Touchable::completion_queue, Touchable::receives, Touchable::actor}) {
    Hearer one(touchables(kind));
    run_workload({.clients = 2, .operations = 12}, {}, one, stacks);
    ASSERT_EQ(one.touches().size(), 1U) << static_cast<int>(kind);
    EXPECT_EQ(one.touches().at(kind), all.touches().at(kind)) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace falafel::sim
