// The traces of ten thousand seeds: a change of the simulator that is to change no run keeps these
// hashes. A hash that changes changes the meaning of recorded schedules, of published seeds, and of
// what exhaustive searches go through.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "fabric/random.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "fabric/sim/strategies/recording_strategy.h"
#include "fabric/sim/timing/profile.h"
#include "tests/sim/verbs_workload.h"
#include "tests/sim/workload.h"

namespace falafel::sim {
namespace {

SimulationOptions recorded_options(std::uint64_t seed) {
  SimulationOptions options = draw_swarm_options(seed);
  options.step_limit = 5'000;
  return options;
}

// A hash of what was put in.
class Combined {
 public:
  void add(std::uint64_t value) {
    hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15U;
    hash_ ^= hash_ >> 32U;
  }
  void add(const RunResult& result) {
    add(result.trace_hash);
    add(result.steps);
    add(result.time_ns);
    add(static_cast<std::uint64_t>(result.outcome));
    for (const std::uint64_t count : result.faults) add(count);
    for (const std::uint64_t count : result.simulator_probes) add(count);
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0;
};

TEST(RecordedTraces, OfSixThousandSeedsOfTheWorkloadAreTheSame) {
  fabric::FiberStackPool stacks;
  Combined traces;
  for (std::uint64_t seed = 0; seed < 6'000; ++seed) {
    const SimulationOptions options = recorded_options(seed);
    const auto strategy = make_strategy(options, seed);
    traces.add(run_workload({}, options, *strategy, stacks));
  }
  EXPECT_EQ(traces.text(), "1168b9b4f9bb42f7");
}

TEST(RecordedTraces, OfThreeThousandSeedsOfAllVerbsAreTheSame) {
  fabric::FiberStackPool stacks;
  Combined traces;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    const SimulationOptions options = recorded_options(seed);
    const auto strategy = make_strategy(options, seed);
    traces.add(run_verbs_workload(options, *strategy, stacks));
  }
  EXPECT_EQ(traces.text(), "f7a0effefffbb7b1");
}

// Also every question and its bound.
TEST(RecordedTraces, OfFourHundredSeedsHaveTheSameChoices) {
  fabric::FiberStackPool stacks;
  Combined traces;
  for (std::uint64_t seed = 10'000; seed < 10'400; ++seed) {
    const SimulationOptions options = recorded_options(seed);
    const auto strategy = make_strategy(options, seed);
    RecordingStrategy recording(*strategy);
    traces.add(run_verbs_workload(options, recording, stacks));
    for (const Choice& choice : recording.choices()) {
      traces.add(static_cast<std::uint64_t>(choice.kind));
      traces.add(choice.bound);
      traces.add(choice.value);
      traces.add(choice.checkpoint);
    }
  }
  EXPECT_EQ(traces.text(), "ddaab7ea1a0d76b9");
}

TEST(RecordedTraces, OfTimedRunsAreTheSame) {
  fabric::FiberStackPool stacks;
  Combined traces;
  for (const char* const name : {"connectx3-qdr", "connectx6-hdr", "soft-roce"}) {
    const timing::Profile profile = timing::find_profile(name).value();
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      SimulationOptions options;
      options.step_limit = 5'000;
      const auto strategy = make_strategy(options, seed);
      traces.add(run_verbs_workload(options, *strategy, stacks, &profile));
    }
  }
  EXPECT_EQ(traces.text(), "4ed013ee1dd3f4b4");
}

// -------------------------------------------------------------------------------------------------
// The touches that explorations are told

// A random walk that hears what each step touches, and the lanes, with every second seed.
class ListeningStrategy final : public Strategy, public StepObserver {
 public:
  ListeningStrategy(std::uint64_t seed, Combined& heard)
      : random_(seed), tells_lanes_(seed % 2 == 0), heard_(heard) {}

  std::uint64_t choose(const ChoicePoint& point) override {
    const std::uint64_t drawn = random_.below(point.bound);
    heard_.add(point.sufficient);
    if (!tells_lanes_ || point.sufficient == all_answers) return drawn;
    // The least sufficient answer from the drawn one on.
    const std::uint64_t from = point.sufficient >> (drawn % 64);
    const auto shift = static_cast<std::uint64_t>(from == 0 ? std::countr_zero(point.sufficient)
                                                            : std::countr_zero(from) +
                                                                  static_cast<int>(drawn % 64));
    return shift < point.bound ? shift : drawn;
  }
  std::uint64_t schedule(const ChoicePoint& /*point*/, std::span<const ActorId> actors) override {
    const std::uint64_t chosen = random_.below(actors.size());
    mover_ = actors[chosen];
    return chosen;
  }
  StepObserver* step_observer() override { return this; }

  void introduce_special(ActorId actor, SpecialActor /*role*/) override { heard_.add(actor); }
  bool begin_step(std::span<const ActorId> ready, std::uint64_t /*time_ns*/) override {
    end_step();
    mover_ = ready.front();
    return true;
  }
  bool begin_jump() override {
    end_step();
    return true;
  }
  bool tells_lanes() const override { return tells_lanes_; }
  void offer_lanes(std::span<const Lane> lanes) override {
    lanes_.assign(lanes.begin(), lanes.end());
    for (const Lane& lane : lanes_) heard_.add(lane.actor << 8U ^ lane.number);
  }
  LaneNumber lane() const override {
    std::vector<LaneNumber> own;
    for (const Lane& lane : lanes_) {
      if (lane.actor == mover_) own.push_back(lane.number);
    }
    return own.at(lane_count_++ % own.size());
  }
  void touch(const Touch& touch) override { touches_.push_back(touch); }
  void will_touch(ActorId actor, const Touch& touch) override {
    heard_.add(actor);
    touches_.push_back(touch);
  }
  void end_run() override { end_step(); }

 private:
  // A step that touches the same twice touches no more than that.
  void end_step() {
    const auto fields = [](const Touch& touch) {
      return std::tuple(touch.object, touch.number, touch.access, touch.begin, touch.end);
    };
    const auto equal = [&](const Touch& left, const Touch& right) {
      return fields(left) == fields(right);
    };
    std::ranges::sort(touches_, {}, fields);
    touches_.erase(std::unique(touches_.begin(), touches_.end(), equal), touches_.end());
    for (const Touch& touch : touches_) {
      heard_.add(static_cast<std::uint64_t>(touch.object) << 40U ^
                 static_cast<std::uint64_t>(touch.access) << 32U ^ touch.number);
      heard_.add(touch.begin);
      heard_.add(touch.end);
    }
    touches_.clear();
  }

  fabric::RandomGenerator random_;
  bool tells_lanes_;
  Combined& heard_;
  std::vector<Lane> lanes_;
  std::vector<Touch> touches_;  // of the present step
  ActorId mover_ = 0;
  mutable std::uint64_t lane_count_ = 0;
};

TEST(RecordedTraces, OfExplorationsTellTheSameTouches) {
  fabric::FiberStackPool stacks;
  Combined heard;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SimulationOptions options = recorded_options(seed);
    options.step_limit = 1'000;
    if (seed % 4 < 2) options.max_chosen_faults = seed % 3;
    options.fibers_take_turns = seed % 8 > 3;
    ListeningStrategy strategy(seed, heard);
    heard.add(seed % 3 == 0 ? run_workload({}, options, strategy, stacks)
                            : run_verbs_workload(options, strategy, stacks));
  }
  EXPECT_EQ(heard.text(), "fbfd3b0410d1d4c8");
}

}  // namespace
}  // namespace falafel::sim
