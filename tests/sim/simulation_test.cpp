// The simulator as a whole: a run is a function of its inputs, every kind of fault and every rare
// branch occurs, and a run that cannot continue reports it.
#include "fabric/sim/simulation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>

#include "fabric/sim/strategies/make_strategy.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "fabric/sim/strategies/recording_strategy.h"
#include "fabric/sim/strategies/replay_strategy.h"
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

// The hash is the same in every build and on every machine. If it changes, recorded schedules
// change their meaning.
TEST(Simulation, TraceHashOfAHundredSeedsIsTheSameInEveryBuild) {
  fabric::FiberStackPool stacks;
  std::uint64_t hash = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    hash = hash * 31 + run_seed(seed, stacks).trace_hash;
  }
  EXPECT_EQ(hash, 0xb7f3eda330fd3207U) << fmt::format("{:#x}", hash);
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

// Counts the events that it observes, by kind.
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
  for (std::uint64_t seed = 0; seed < 8'000; ++seed) {
    const RunResult result = run_seed(seed, stacks);
    for (std::size_t kind = 0; kind < fault_kind_count; ++kind) {
      sum.faults[kind] += result.faults[kind];
    }
    for (std::size_t probe = 0; probe < simulator_probe_count; ++probe) {
      sum.simulator_probes[probe] += result.simulator_probes[probe];
    }
  }
  for (std::size_t kind = 0; kind < fault_kind_count; ++kind) {
    const bool is_drawn = static_cast<FaultKind>(kind) != FaultKind::clock_step;
    EXPECT_EQ(sum.faults[kind] > 0, is_drawn) << to_string(static_cast<FaultKind>(kind));
  }
  for (std::size_t probe = 0; probe < simulator_probe_count; ++probe) {
    EXPECT_GT(sum.simulator_probes[probe], 0U) << to_string(static_cast<SimulatorProbe>(probe));
  }
}

// A program keeps its memory to judge what a run has left there. AddressSanitizer sees whether the
// block uses what ended with the simulation.
TEST(Simulation, ItsMemoryMayOutliveIt) {
  fabric::FiberStackPool stacks;
  std::shared_ptr<fabric::MemoryBlock> block;
  SimulationOptions options;
  options.late_visibility = true;
  {
    RandomStrategy strategy(1);
    Simulation simulation(options, strategy, stacks);
    simulation.add_host({.name = "host"}, [&](fabric::Host& host) {
      block = host.allocate_memory(fabric::word_bytes).value();
      block->store(0, 7);
    });
    EXPECT_EQ(simulation.run().outcome, Outcome::completed);
  }
  EXPECT_EQ(block->bytes()[0], std::byte{7});
  block.reset();
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

// A host whose only fiber counts its steps forever, and a host that stops it after 100 of its own
// steps.
class StoppedHost : public testing::Test {
 protected:
  RunResult run(const std::function<void(fabric::Host&, Simulation&)>& afterwards) {
    fabric::FiberStackPool stacks;
    RandomStrategy strategy(1);
    Simulation simulation({.step_limit = 10'000}, strategy, stacks);
    simulation.add_host({.name = "stopped"}, [&](fabric::Host& host) {
      ++boots_;
      for (;;) {
        ++count_;
        host.yield();
      }
    });
    simulation.add_host({.name = "other"}, [&](fabric::Host& host) {
      for (int step = 0; step < 100; ++step) host.yield();
      simulation.pause("stopped", fabric::never_ns);
      count_when_stopped_ = count_;
      afterwards(host, simulation);
    });
    return simulation.run();
  }

  std::uint64_t boots_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t count_when_stopped_ = 0;
};

TEST_F(StoppedHost, StandsStillForGoodAndTheRunEndsWithoutIt) {
  const RunResult result = run([](fabric::Host& host, Simulation&) {
    host.sleep_until(host.now_ns() + 3'600'000'000'000);
    for (int step = 0; step < 100; ++step) host.yield();
  });
  EXPECT_EQ(result.outcome, Outcome::completed) << result.explanation;
  EXPECT_GT(count_when_stopped_, 0U);
  EXPECT_EQ(count_, count_when_stopped_);
}

TEST_F(StoppedHost, IsNotResumedByTheEndOfAPause) {
  const RunResult result = run([](fabric::Host& host, Simulation& simulation) {
    simulation.pause("stopped", 1'000);
    host.sleep_until(host.now_ns() + 1'000'000);
    for (int step = 0; step < 100; ++step) host.yield();
  });
  EXPECT_EQ(result.outcome, Outcome::completed) << result.explanation;
  EXPECT_EQ(count_, count_when_stopped_);
}

TEST_F(StoppedHost, IsKnownAsStopped) {
  run([](fabric::Host&, Simulation& simulation) {
    EXPECT_TRUE(simulation.is_stopped("stopped"));
    EXPECT_FALSE(simulation.is_stopped("other"));
    simulation.pause("other", 1'000);
    EXPECT_FALSE(simulation.is_stopped("other"));
  });
}

TEST_F(StoppedHost, CanStillCrashAndBootAnew) {
  const RunResult result = run([&](fabric::Host& host, Simulation& simulation) {
    simulation.crash("stopped");
    simulation.restart("stopped");
    for (int step = 0; step < 100; ++step) host.yield();
    EXPECT_GT(count_, count_when_stopped_);
  });
  EXPECT_EQ(boots_, 2U);
  // the host runs again, so the program is not over
  EXPECT_EQ(result.outcome, Outcome::step_limit);
}

TEST(Simulation, WithoutTheStoppedNobodyCanMove) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(1);
  Simulation simulation({}, strategy, stacks);
  simulation.add_host({.name = "stopped"}, [&](fabric::Host& host) {
    simulation.pause("stopped", fabric::never_ns);
    host.yield();
  });
  simulation.add_host({.name = "waiting"}, [](fabric::Host& host) {
    const auto event = host.create_event();
    event->wait(fabric::never_ns);
  });
  const RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, Outcome::stuck);
  EXPECT_NE(result.explanation.find("host stopped: alive, stopped"), std::string::npos)
      << result.explanation;
}

// A fiber that runs when its host is stopped continues to its next wait; it may end before that.
TEST(Simulation, AFiberMayEndAfterItStoppedItsHost) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(1);
  Simulation simulation({}, strategy, stacks);
  simulation.add_host({.name = "stopped"},
                      [&](fabric::Host&) { simulation.pause("stopped", fabric::never_ns); });
  simulation.add_host({.name = "other"}, [](fabric::Host& host) { host.sleep_until(1'000); });
  EXPECT_EQ(simulation.run().outcome, Outcome::completed);
}

TEST(Simulation, IsOverWhenAFaultKillsTheLastProgram) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(1);
  SimulationOptions options;
  options.set_fault_rate(FaultKind::client_crash, 100);
  Simulation simulation(options, strategy, stacks);
  simulation.add_host({.name = "last"}, [](fabric::Host& host) {
    for (;;) host.sleep_until(host.now_ns() + 1'000);
  });
  const RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, Outcome::completed) << result.explanation;
  EXPECT_EQ(result.faults[static_cast<std::size_t>(FaultKind::client_crash)], 1U);
}

TEST(Simulation, ARegistrationFailsAboutOnceInItsRate) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(1);
  SimulationOptions options;
  options.set_fault_rate(FaultKind::registration_failure, 4);
  Simulation simulation(options, strategy, stacks);
  constexpr std::uint64_t tries = 4'000;
  std::uint64_t refused = 0;
  simulation.add_host({.name = "host"}, [&](fabric::Host& host) {
    const auto domain = host.device(0).create_protection_domain();
    const auto memory = host.allocate_memory(8).value();
    for (std::uint64_t attempt = 0; attempt < tries; ++attempt) {
      const auto region = domain->register_memory(memory, 0, 8, {});
      if (region) continue;
      EXPECT_EQ(region.error().code, fabric::ErrorCode::out_of_memory);
      ++refused;
    }
  });
  const RunResult result = simulation.run();
  EXPECT_NEAR(static_cast<double>(refused), tries / 4.0, tries / 20.0);
  EXPECT_EQ(result.faults[static_cast<std::size_t>(FaultKind::registration_failure)], refused);
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
