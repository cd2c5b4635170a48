// The network of a run suits the length of the program's runs, which is measured without faults.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "explorer/check.h"
#include "fabric/assert.h"

namespace falafel::check::network_test {
namespace {

using sim::FaultKind;

constexpr std::uint64_t seeds = 200;

// One client, which yields and then returns.
Body yield(std::uint64_t times) {
  return [times](World& world) {
    world.client("client", [times](fabric::Host& host) {
      for (std::uint64_t yielded = 0; yielded < times; ++yielded) host.yield();
    });
    world.run();
  };
}

sim::SimulationOptions draw(const Body& body, Network network, std::uint64_t seed) {
  network.faults = all_faults();
  return WorldProgram("program", std::move(network), body).draw(seed)->simulation;
}

sim::SimulationOptions draw(const Network& network, std::uint64_t seed) {
  return draw(yield(0), network, seed);
}

std::uint64_t measure(const Body& body) {
  const WorldProgram program("program", {}, body);
  return world_scenario(*program.draw(1)).usual_steps;
}

TEST(Network, MeasuresRunsThatEnd) {
  EXPECT_NEAR(static_cast<double>(measure(yield(1'000))), 1'000, 10);
  EXPECT_EQ(measure(yield(1'000)), measure(yield(1'000)));
  const std::uint64_t least = 20;
  EXPECT_EQ(measure(yield(1)), least);
}

TEST(Network, MeasuresNothingWhereNoRunEnds) {
  const std::uint64_t usual = 400;
  EXPECT_EQ(measure(yield(1'000'000)), usual);
  EXPECT_EQ(measure([](World& world) {
              world.run();
              FALAFEL_ASSERT(false, "the run crashes");
            }),
            usual);
}

TEST(Network, ScalesFaultsToShortRuns) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const sim::SimulationOptions drawn = sim::draw_swarm_options(seed);
    const sim::SimulationOptions scaled = draw({.usual_steps = 100}, seed);
    const std::uint64_t rate = drawn.fault_rate(FaultKind::client_crash);
    EXPECT_EQ(scaled.fault_rate(FaultKind::client_crash), rate / 4);
    EXPECT_EQ(scaled.fault_rate(FaultKind::unreliable_loss),
              drawn.fault_rate(FaultKind::unreliable_loss))
        << "counts packets";
    EXPECT_EQ(scaled.pct_steps, drawn.pct_steps / 4);
    const std::uint64_t first_fair_step = scaled.last_fault_step;
    EXPECT_TRUE(first_fair_step == 100 || first_fair_step == 200 || first_fair_step == 400)
        << first_fair_step;
    EXPECT_EQ(scaled.step_limit, 40'000U);
  }
}

TEST(Network, LeavesFaultsOfLongRunsAsTheyAreDrawn) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const sim::SimulationOptions drawn = sim::draw_swarm_options(seed);
    const sim::SimulationOptions scaled = draw({.usual_steps = 50'000}, seed);
    EXPECT_EQ(scaled.fault_rates, drawn.fault_rates);
    EXPECT_EQ(scaled.pct_steps, drawn.pct_steps);
    EXPECT_GE(scaled.last_fault_step, 50'000U);
    EXPECT_EQ(scaled.step_limit, 500'000U);
    EXPECT_LE(2 * scaled.last_fault_step, scaled.step_limit);
  }
}

TEST(Network, KeepsTheLimitsThatTheProgramSets) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    EXPECT_EQ(draw({.usual_steps = 100, .fair_after_steps = 7}, seed).last_fault_step, 7U);
    const sim::SimulationOptions limited = draw({.usual_steps = 100, .step_limit = 300}, seed);
    EXPECT_EQ(limited.step_limit, 300U);
    EXPECT_LE(limited.last_fault_step, 150U);
  }
}

TEST(Network, IsTheSameForAllProgramsIfItIsNotScaled) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const sim::SimulationOptions options = draw(unscaled_network(), seed);
    const sim::SimulationOptions drawn = sim::draw_swarm_options(seed);
    EXPECT_EQ(options.fault_rates, drawn.fault_rates);
    EXPECT_EQ(options.pct_steps, drawn.pct_steps);
    EXPECT_EQ(options.last_fault_step, 4'000U);
    EXPECT_EQ(options.step_limit, 100'000U);
  }
}

}  // namespace
}  // namespace falafel::check::network_test
