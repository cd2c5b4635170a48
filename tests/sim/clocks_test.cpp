// The clocks of hosts: exact by default; with the options, off and fast or slow within their
// bounds. The monotonic clock never goes backward, and all deadlines refer to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "fabric/sim/strategies/recording_strategy.h"
#include "fabric/sim/strategies/replay_strategy.h"
#include "fabric/time_units.h"

namespace falafel::sim {
namespace {

constexpr std::uint64_t clock_seeds = 200;
using fabric::second_ns;

using Program = std::function<void(fabric::Host&)>;

RunResult run_hosts(const SimulationOptions& options, Strategy& strategy, std::size_t hosts,
                    const Program& program) {
  fabric::FiberStackPool stacks;
  Simulation simulation(options, strategy, stacks);
  for (std::size_t host = 0; host < hosts; ++host) {
    simulation.add_host({.name = "host_" + std::to_string(host)}, program);
  }
  const RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, Outcome::completed) << result.explanation;
  return result;
}

RunResult run_seed(const SimulationOptions& options, std::uint64_t seed, std::size_t hosts,
                   const Program& program) {
  RandomStrategy strategy(seed);
  return run_hosts(options, strategy, hosts, program);
}

// The two clocks of a host before its first wait.
struct Reading {
  std::uint64_t now_ns = 0;
  std::uint64_t wall_clock_ns = 0;
};

std::vector<Reading> readings_of_two_hosts(const SimulationOptions& options, std::uint64_t seed) {
  std::vector<Reading> readings;
  run_seed(options, seed, 2, [&](fabric::Host& host) {
    readings.push_back({.now_ns = host.now_ns(), .wall_clock_ns = host.wall_clock_ns()});
  });
  return readings;
}

std::uint64_t distance(std::uint64_t left, std::uint64_t right) {
  return std::max(left, right) - std::min(left, right);
}

TEST(Clocks, AreExactByDefaultAndAskNothing) {
  RandomStrategy random(1);
  RecordingStrategy recording(random);
  std::uint64_t epoch_ns = 0;
  run_hosts({}, recording, 2, [&](fabric::Host& host) {
    for (int look = 0; look < 10; ++look) {
      const std::uint64_t difference_ns = host.wall_clock_ns() - host.now_ns();
      if (epoch_ns == 0) epoch_ns = difference_ns;
      EXPECT_EQ(difference_ns, epoch_ns);
      host.sleep_until(host.now_ns() + 1'000);
    }
  });
  for (const Choice& choice : recording.choices()) EXPECT_NE(choice.kind, ChoiceKind::clock);
}

TEST(Clocks, AreOffByTheirOffsetAtMost) {
  constexpr std::uint64_t offset_ns = 1'000'000;
  const SimulationOptions options{.step_duration_ns = 1, .clock_offset_ns = offset_ns};
  std::uint64_t largest_ns = 0;
  std::uint64_t largest_monotonic_ns = 0;
  for (std::uint64_t seed = 0; seed < clock_seeds; ++seed) {
    const std::vector<Reading> readings = readings_of_two_hosts(options, seed);
    ASSERT_EQ(readings.size(), 2U);
    largest_ns =
        std::max(largest_ns, distance(readings[0].wall_clock_ns, readings[1].wall_clock_ns));
    largest_monotonic_ns =
        std::max(largest_monotonic_ns, distance(readings[0].now_ns, readings[1].now_ns));
  }
  EXPECT_LE(largest_ns, 2 * offset_ns + 10);
  EXPECT_GT(largest_ns, offset_ns) << "one is ahead, the other behind";
  EXPECT_GT(largest_monotonic_ns, offset_ns / 2) << "monotonic clocks cannot be compared";
}

// A host sleeps for a second of its own clock; returns how long that takes.
std::uint64_t length_of_a_second_ns(const SimulationOptions& options, std::uint64_t seed) {
  const RunResult result = run_seed(options, seed, 1, [](fabric::Host& host) {
    const std::uint64_t start_ns = host.now_ns();
    const std::uint64_t wall_start_ns = host.wall_clock_ns();
    host.sleep_until(start_ns + second_ns);
    EXPECT_GE(host.now_ns(), start_ns + second_ns);
    EXPECT_LT(host.now_ns(), start_ns + second_ns + 10) << "it wakes at once";
    // Both clocks of a host run at one speed.
    const std::uint64_t slept_ns = host.now_ns() - start_ns;
    EXPECT_LE(distance(host.wall_clock_ns() - wall_start_ns, slept_ns), 2U);
  });
  return result.time_ns;
}

TEST(Clocks, RunFastOrSlowWithinTheirDrift) {
  constexpr std::uint64_t drift_ppm = 1'000;
  const SimulationOptions options{.step_duration_ns = 1, .clock_drift_ppm = drift_ppm};
  std::uint64_t shortest_ns = 2 * second_ns;
  std::uint64_t longest_ns = 0;
  for (std::uint64_t seed = 0; seed < clock_seeds; ++seed) {
    const std::uint64_t length_ns = length_of_a_second_ns(options, seed);
    shortest_ns = std::min(shortest_ns, length_ns);
    longest_ns = std::max(longest_ns, length_ns);
  }
  constexpr std::uint64_t half_drift_ns = second_ns / 1'000'000 * drift_ppm / 2;
  EXPECT_LT(shortest_ns, second_ns - half_drift_ns);
  EXPECT_GT(shortest_ns, second_ns - 2 * half_drift_ns - 1'000);
  EXPECT_GT(longest_ns, second_ns + half_drift_ns);
  EXPECT_LT(longest_ns, second_ns + 2 * half_drift_ns + 2'000);
}

TEST(Clocks, ThatAreSetMayGoBackwardUnlikeTheMonotonicOne) {
  SimulationOptions options{
      .step_limit = 100'000, .clock_offset_ns = second_ns, .clock_drift_ppm = 100'000};
  options.set_fault_rate(FaultKind::clock_step, 20);
  bool went_back = false;
  bool went_forward = false;
  std::uint64_t steps = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RunResult result = run_seed(options, seed, 2, [&](fabric::Host& host) {
      std::uint64_t latest_ns = host.now_ns();
      std::uint64_t latest_wall_ns = host.wall_clock_ns();
      for (int look = 0; look < 200; ++look) {
        host.yield();
        ASSERT_GE(host.now_ns(), latest_ns);
        latest_ns = host.now_ns();
        went_back = went_back || host.wall_clock_ns() < latest_wall_ns;
        went_forward = went_forward || host.wall_clock_ns() > latest_wall_ns + second_ns / 100;
        latest_wall_ns = host.wall_clock_ns();
      }
    });
    steps += result.faults[static_cast<std::size_t>(FaultKind::clock_step)];
  }
  EXPECT_TRUE(went_back);
  EXPECT_TRUE(went_forward);
  EXPECT_GT(steps, 100U);
}

TEST(Clocks, OfNoOffsetAreNeverSet) {
  SimulationOptions options;
  options.set_fault_rate(FaultKind::clock_step, 1);
  const RunResult result = run_seed(options, 1, 1, [](fabric::Host& host) {
    for (int look = 0; look < 100; ++look) host.yield();
  });
  EXPECT_EQ(result.faults[static_cast<std::size_t>(FaultKind::clock_step)], 0U);
}

TEST(Clocks, CanBeSetByAScript) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(1);
  Simulation simulation({}, strategy, stacks);
  simulation.add_host({.name = "host"}, [&](fabric::Host& host) {
    const std::uint64_t epoch_ns = host.wall_clock_ns() - host.now_ns();
    simulation.set_wall_clock("host", -5'000);
    EXPECT_EQ(host.wall_clock_ns() - host.now_ns(), epoch_ns - 5'000);
    host.sleep_until(host.now_ns() + 1'000'000);
    EXPECT_EQ(host.wall_clock_ns() - host.now_ns(), epoch_ns - 5'000);
    simulation.set_wall_clock("host", 7'000);
    EXPECT_EQ(host.wall_clock_ns() - host.now_ns(), epoch_ns + 7'000);
  });
  EXPECT_EQ(simulation.run().outcome, Outcome::completed);
}

// A program whose course depends on its clocks.
void compete(fabric::Host& host) {
  for (int round = 0; round < 20; ++round) {
    const std::uint64_t wait_ns = 1'000 + host.wall_clock_ns() % 1'000;
    host.sleep_until(host.now_ns() + wait_ns);
  }
}

TEST(Clocks, OfARecordedRunAreThoseOfItsReplay) {
  SimulationOptions options{.clock_offset_ns = second_ns, .clock_drift_ppm = 10'000};
  options.set_fault_rate(FaultKind::clock_step, 10);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomStrategy random(seed);
    RecordingStrategy recording(random);
    const RunResult recorded = run_hosts(options, recording, 3, compete);
    ReplayStrategy replay(recording.choices());
    const RunResult replayed = run_hosts(options, replay, 3, compete);
    ASSERT_EQ(replayed.trace_hash, recorded.trace_hash) << "seed " << seed;
    ASSERT_EQ(replayed.time_ns, recorded.time_ns) << "seed " << seed;
  }
}

}  // namespace
}  // namespace falafel::sim
