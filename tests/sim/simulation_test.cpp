// The simulator as a whole: a run is a function of its inputs; every fault kind strikes and every rare
// branch is reached; a run that cannot go on says so.
#include "fabric/sim/simulation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <stdexcept>

#include "fabric/sim/random_strategy.h"
#include "fabric/sim/recording_strategy.h"
#include "fabric/sim/replay_strategy.h"
#include "fabric/sim/strategies.h"
#include "tests/sim/workload.h"

namespace falafel::sim {
namespace {

SimulationOptions swarm_options(std::uint64_t seed) {
  SimulationOptions options = draw_swarm_options(seed);
  options.step_limit = 20'000;
  return options;
}

RunResult run_seed(std::uint64_t seed, fabric::FiberStackPool& stacks) {
  const SimulationOptions options = swarm_options(seed);
  const auto strategy = make_strategy(options, seed);
  return run_workload({}, options, *strategy, stacks);
}

TEST(Simulation, AThousandSeedsTwiceGiveTheSameTraces) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    const RunResult first = run_seed(seed, stacks);
    const RunResult second = run_seed(seed, stacks);
    ASSERT_EQ(first.trace_hash, second.trace_hash) << "seed " << seed;
    ASSERT_EQ(first.steps, second.steps) << "seed " << seed;
    ASSERT_EQ(first.outcome, second.outcome) << "seed " << seed;
  }
}

// The same in every build and on every machine: a change of this hash is a change of what recorded
// schedules mean.
TEST(Simulation, TraceHashOfAHundredSeedsIsTheSameInEveryBuild) {
  fabric::FiberStackPool stacks;
  std::uint64_t hash = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    hash = hash * 31 + run_seed(seed, stacks).trace_hash;
  }
  EXPECT_EQ(hash, 0xcb8bcc6187040980U) << fmt::format("{:#x}", hash);
}

TEST(Simulation, DifferentSeedsGiveDifferentTraces) {
  fabric::FiberStackPool stacks;
  EXPECT_NE(run_seed(1, stacks).trace_hash, run_seed(2, stacks).trace_hash);
}

TEST(Simulation, AnObserverSeesTheRunAndDoesNotChangeIt) {
  fabric::FiberStackPool stacks;
  const SimulationOptions options = swarm_options(3);
  const auto strategy = make_strategy(options, 3);
  TraceLog log;
  const RunResult observed = run_workload({}, options, *strategy, stacks, &log);
  EXPECT_EQ(observed.trace_hash, run_seed(3, stacks).trace_hash);
  EXPECT_FALSE(log.entries().empty());
}

// Counts, of each kind, the events that it sees.
class CountingObserver final : public TraceObserver {
 public:
  explicit CountingObserver(EventKinds kinds) : kinds_(kinds) {}
  void observe(const TraceEvent& event) override { ++counts_[event.kind]; }
  EventKinds observed_kinds() const override { return kinds_; }
  const std::map<EventKind, std::uint64_t>& counts() const { return counts_; }

 private:
  EventKinds kinds_;
  std::map<EventKind, std::uint64_t> counts_;
};

TEST(Simulation, AnObserverSeesTheKindsThatItAskedFor) {
  fabric::FiberStackPool stacks;
  const SimulationOptions options = swarm_options(3);
  CountingObserver everything(all_event_kinds);
  CountingObserver some(event_kinds({EventKind::words_read, EventKind::request_posted}));
  for (CountingObserver* observer : {&everything, &some}) {
    const auto strategy = make_strategy(options, 3);
    const RunResult observed = run_workload({}, options, *strategy, stacks, observer);
    EXPECT_EQ(observed.trace_hash, run_seed(3, stacks).trace_hash);
  }
  ASSERT_GT(everything.counts().size(), 2U);
  std::map<EventKind, std::uint64_t> expected;
  for (const EventKind kind : {EventKind::words_read, EventKind::request_posted}) {
    ASSERT_TRUE(everything.counts().contains(kind)) << to_string(kind);
    expected[kind] = everything.counts().at(kind);
  }
  EXPECT_EQ(some.counts(), expected);
}

TEST(Simulation, ARecordedRunReplays) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const SimulationOptions options = swarm_options(seed);
    const auto strategy = make_strategy(options, seed);
    RecordingStrategy recording(*strategy);
    const RunResult recorded = run_workload({}, options, recording, stacks);
    ReplayStrategy replay(recording.choices());
    const RunResult replayed = run_workload({}, options, replay, stacks);
    ASSERT_EQ(replayed.outcome, recorded.outcome) << replayed.explanation;
    ASSERT_EQ(replayed.trace_hash, recorded.trace_hash) << "seed " << seed;
  }
}

TEST(Simulation, AReplayOfAnotherProgramNamesTheStepWhereItDiverges) {
  fabric::FiberStackPool stacks;
  const SimulationOptions options;
  RandomStrategy strategy(1);
  RecordingStrategy recording(strategy);
  run_workload({.clients = 2}, options, recording, stacks);
  ReplayStrategy replay(recording.choices());
  const RunResult result = run_workload({.clients = 3}, options, replay, stacks);
  EXPECT_EQ(result.outcome, Outcome::diverged);
  EXPECT_NE(result.explanation.find("step"), std::string::npos) << result.explanation;
}

TEST(Simulation, EveryFaultKindStrikesAndEveryRareBranchIsReached) {
  fabric::FiberStackPool stacks;
  RunResult sum;
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    const RunResult result = run_seed(seed, stacks);
    for (std::size_t kind = 0; kind < fault_kind_count; ++kind) {
      sum.faults[kind] += result.faults[kind];
    }
    for (std::size_t probe = 0; probe < simulator_probe_count; ++probe) {
      sum.simulator_probes[probe] += result.simulator_probes[probe];
    }
  }
  for (std::size_t kind = 0; kind < fault_kind_count; ++kind) {
    EXPECT_GT(sum.faults[kind], 0U) << to_string(static_cast<FaultKind>(kind));
  }
  for (std::size_t probe = 0; probe < simulator_probe_count; ++probe) {
    EXPECT_GT(sum.simulator_probes[probe], 0U) << to_string(static_cast<SimulatorProbe>(probe));
  }
}

TEST(Simulation, WithoutFaultsNoneStrikes) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(5);
  const RunResult result = run_workload({}, {}, strategy, stacks);
  for (const std::uint64_t count : result.faults) EXPECT_EQ(count, 0U);
}

TEST(Simulation, AProgramThatWaitsForNothingIsStuck) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(1);
  Simulation simulation({}, strategy, stacks);
  simulation.add_host({.name = "alone"}, [](fabric::Host& host) {
    const auto event = host.create_event();
    event->wait(fabric::never_ns);
  });
  const RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, Outcome::stuck);
  EXPECT_NE(result.explanation.find("waits for an event"), std::string::npos) << result.explanation;
}

TEST(Simulation, AProgramThatNeverEndsReachesTheStepLimit) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(1);
  SimulationOptions options;
  options.step_limit = 1'000;
  Simulation simulation(options, strategy, stacks);
  simulation.add_host({.name = "restless"}, [](fabric::Host& host) {
    for (;;) host.yield();
  });
  const RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, Outcome::step_limit);
  EXPECT_EQ(result.steps, 1'000U);
  EXPECT_NE(result.explanation.find("restless"), std::string::npos) << result.explanation;
}

TEST(Simulation, AStoppedRunEndsBehindTheStep) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(1);
  Simulation simulation({}, strategy, stacks);
  std::uint64_t stopped_at_step = 0;
  simulation.add_host({.name = "restless"}, [&](fabric::Host& host) {
    while (simulation.steps() < 1'000) host.yield();
    stopped_at_step = simulation.steps();
    simulation.stop();
    for (;;) host.yield();
  });
  const RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, Outcome::stopped);
  EXPECT_EQ(result.steps, stopped_at_step);
  EXPECT_NE(result.explanation.find("restless"), std::string::npos) << result.explanation;
}

TEST(Simulation, WrongOptionsAndNamesAreNamed) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(1);
  SimulationOptions options;
  options.mtu_bytes = 1000;
  EXPECT_THROW(Simulation(options, strategy, stacks), std::invalid_argument);
  Simulation simulation({}, strategy, stacks);
  simulation.add_host({.name = "one"}, [](fabric::Host&) {});
  EXPECT_THROW(simulation.add_host({.name = "one"}, [](fabric::Host&) {}), std::invalid_argument);
  EXPECT_THROW(simulation.crash("nobody"), std::invalid_argument);
}

}  // namespace
}  // namespace falafel::sim
