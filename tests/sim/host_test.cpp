// Hosts of the simulator: preemption points and turns of their fibers, which faults strike which
// role, and faults that follow events.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "tests/sim/workload.h"

namespace falafel::sim {
namespace {

constexpr std::uint64_t preemption_seeds = 200;

// Two fibers increment a private counter that nothing protects; returns its final value.
std::uint64_t count_with_two_fibers(std::uint64_t seed, bool with_preemption) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(seed);
  Simulation simulation({}, strategy, stacks);
  std::uint64_t counter = 0;
  simulation.add_host({.name = "host"}, [&](fabric::Host& host) {
    for (int fiber = 0; fiber < 2; ++fiber) {
      host.spawn({}, [&] {
        const std::uint64_t found = counter;
        if (with_preemption) host.preemption_point();
        counter = found + 1;
      });
    }
  });
  EXPECT_EQ(simulation.run().outcome, Outcome::completed);
  return counter;
}

TEST(PreemptionPoint, LetsOthersRunInSomeSchedules) {
  std::set<std::uint64_t> counters;
  for (std::uint64_t seed = 0; seed < preemption_seeds; ++seed) {
    counters.insert(count_with_two_fibers(seed, true));
    EXPECT_EQ(count_with_two_fibers(seed, false), 2U) << "a fiber is alone between two waits";
  }
  EXPECT_EQ(counters, (std::set<std::uint64_t>{1, 2}));
}

// The orders in which three fibers run, if each yields once.
std::set<std::vector<int>> orders_of_fibers(const SimulationOptions& options) {
  fabric::FiberStackPool stacks;
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < preemption_seeds; ++seed) {
    RandomStrategy strategy(seed);
    Simulation simulation(options, strategy, stacks);
    std::vector<int> order;
    simulation.add_host({.name = "host"}, [&](fabric::Host& host) {
      for (int fiber = 0; fiber < 3; ++fiber) {
        host.spawn({}, [&host, &order, fiber] {
          order.push_back(fiber);
          host.yield();
          order.push_back(fiber);
        });
      }
    });
    EXPECT_EQ(simulation.run().outcome, Outcome::completed);
    orders.insert(order);
  }
  return orders;
}

TEST(Fibers, TakeTurnsWithTheOption) {
  EXPECT_GT(orders_of_fibers({}).size(), 10U);
  const std::set<std::vector<int>> in_turn{{0, 1, 2, 0, 1, 2}};
  EXPECT_EQ(orders_of_fibers({.fibers_take_turns = true}), in_turn);
}

// A fiber that waits gives its turn to the next one, and gets another one when it is woken.
TEST(Fibers, TakeTurnsInTheOrderInWhichTheyAreWoken) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 0; seed < preemption_seeds; ++seed) {
    RandomStrategy strategy(seed);
    Simulation simulation({.fibers_take_turns = true}, strategy, stacks);
    std::vector<std::string> order;
    simulation.add_host({.name = "host"}, [&](fabric::Host& host) {
      const auto first = host.create_event();
      const auto second = host.create_event();
      const auto wait = [&](fabric::Event& event, const char* name) {
        return host.spawn({}, [&order, &event, name] {
          event.wait(fabric::never_ns);
          order.emplace_back(name);
        });
      };
      const fabric::FiberId fibers[] = {wait(*first, "first"), wait(*second, "second")};
      host.yield();
      second->notify_all();
      first->notify_all();
      for (const fabric::FiberId fiber : fibers) host.join(fiber);
    });
    EXPECT_EQ(simulation.run().outcome, Outcome::completed);
    EXPECT_EQ(order, (std::vector<std::string>{"second", "first"}));
  }
}

// Runs one host of this role until the faults are over; returns how often the kind struck.
std::uint64_t strikes(Role role, FaultKind kind) {
  fabric::FiberStackPool stacks;
  std::uint64_t count = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimulationOptions options{.step_limit = 10'000, .last_fault_step = 200};
    options.set_fault_rate(kind, 20);
    options.longest_stall_ns = 10'000;
    RandomStrategy strategy(seed);
    Simulation simulation(options, strategy, stacks);
    simulation.add_host({.name = "host", .role = role}, [&](fabric::Host& host) {
      while (simulation.steps() < 300) host.yield();
    });
    const RunResult result = simulation.run();
    EXPECT_EQ(result.outcome, Outcome::completed) << result.explanation;
    count += result.faults[static_cast<std::size_t>(kind)];
  }
  return count;
}

TEST(Roles, DecideWhichFaultsStrikeAHost) {
  for (const FaultKind kind : {FaultKind::client_crash, FaultKind::client_pause,
                               FaultKind::client_stop, FaultKind::slow_landing}) {
    EXPECT_GT(strikes(Role::client, kind), 0U) << to_string(kind);
    EXPECT_EQ(strikes(Role::server, kind), 0U) << to_string(kind);
    EXPECT_GT(strikes(Role::node, kind), 0U) << to_string(kind);
  }
  for (const FaultKind kind :
       {FaultKind::server_stall, FaultKind::server_restart, FaultKind::server_stop}) {
    EXPECT_EQ(strikes(Role::client, kind), 0U) << to_string(kind);
    EXPECT_GT(strikes(Role::server, kind), 0U) << to_string(kind);
    EXPECT_GT(strikes(Role::node, kind), 0U) << to_string(kind);
  }
}

constexpr std::uint64_t event_step = 100;

// In each of 100 runs, a server counts a probe once. Returns the steps from there to its death; 0:
// it did not die.
std::vector<std::uint64_t> deaths_after_event(std::uint64_t fault_after_probe) {
  constexpr fabric::Probe rare{0, "rare"};
  fabric::FiberStackPool stacks;
  std::vector<std::uint64_t> deaths;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SimulationOptions options{.last_fault_step = 1'000, .fault_after_probe = fault_after_probe};
    options.set_fault_rate(FaultKind::server_restart, 1'000'000'000);
    RandomStrategy strategy(seed);
    Simulation simulation(options, strategy, stacks);
    std::uint64_t last_step = 0;
    bool has_survived = false;
    simulation.add_host({.name = "host", .role = Role::server}, [&](fabric::Host& host) {
      while (simulation.steps() < 500) {
        last_step = simulation.steps();
        if (last_step == event_step) host.count(rare);
        host.yield();
      }
      has_survived = true;
    });
    EXPECT_EQ(simulation.run().outcome, Outcome::completed);
    deaths.push_back(has_survived ? 0 : last_step + 1 - event_step);
  }
  return deaths;
}

TEST(Faults, FollowRareEventsIfTheyAreToldTo) {
  const auto survivors = [](const std::vector<std::uint64_t>& deaths) {
    return std::ranges::count(deaths, std::uint64_t{0});
  };
  EXPECT_EQ(survivors(deaths_after_event(0)), 100);
  const std::vector<std::uint64_t> each_time = deaths_after_event(1);
  EXPECT_EQ(survivors(each_time), 0);
  EXPECT_LE(std::ranges::max(each_time), 32U);
  EXPECT_NEAR(static_cast<double>(survivors(deaths_after_event(4))), 75, 15);
}

}  // namespace
}  // namespace falafel::sim
