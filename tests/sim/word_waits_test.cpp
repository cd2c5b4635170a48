// Fibers that wait for a word of memory: they take no steps while it stays the same, and a change
// that the processor sees late ends the wait too.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "tests/sim/workload.h"

namespace falafel::sim {
namespace {

constexpr std::uint64_t waiting_seeds = 200;

// Counts the runs of fibers.
class RunCounter final : public TraceObserver {
 public:
  void observe(const TraceEvent&) override { ++count_; }
  EventKinds observed_kinds() const override { return event_kinds({EventKind::fiber_runs}); }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

RunResult run(const SimulationOptions& options, std::uint64_t seed,
              const std::function<void(fabric::Host&)>& body, TraceObserver* observer = nullptr) {
  fabric::FiberStackPool stacks;
  const auto strategy = make_strategy(options, seed);
  Simulation simulation(options, *strategy, stacks, observer);
  simulation.add_host({.name = "host"}, body);
  return simulation.run();
}

// Under strict priorities, a fiber that polls starves those below it.
TEST(WordWaits, StarveNobodyAndTakeNoSteps) {
  constexpr std::uint64_t waiting_fibers = 5;
  for (const StrategyKind kind : {StrategyKind::random, StrategyKind::pct}) {
    for (std::uint64_t seed = 0; seed < waiting_seeds; ++seed) {
      RunCounter runs;
      const SimulationOptions options{.strategy = kind, .pct_depth = 1, .step_limit = 1'000};
      const RunResult result = run(
          options, seed,
          [](fabric::Host& host) {
            const auto block = host.allocate_memory(4096).value();
            for (std::uint64_t fiber = 0; fiber < waiting_fibers; ++fiber) {
              host.spawn({}, [block] {
                EXPECT_EQ(block->wait_until_changed(0, 0, fabric::never_ns), 1U);
              });
            }
            for (int step = 0; step < 50; ++step) host.yield();
            block->store(0, 1);
          },
          &runs);
      ASSERT_EQ(result.outcome, Outcome::completed) << result.explanation;
      // Each waiting fiber runs twice: up to its wait, and after it.
      ASSERT_LE(runs.count(), 51 + 2 * waiting_fibers) << "seed " << seed;
    }
  }
}

TEST(WordWaits, ForAWordThatNobodyChangesAreNamedWhereTheRunIsStuck) {
  const RunResult result = run({}, 1, [](fabric::Host& host) {
    host.allocate_memory(4096).value()->wait_until_changed(0, 0, fabric::never_ns);
  });
  EXPECT_EQ(result.outcome, Outcome::stuck);
  EXPECT_NE(result.explanation.find("waits for a word of memory to change"), std::string::npos)
      << result.explanation;
}

// A change through bytes() is not seen until the deadline.
TEST(WordWaits, LookOnceMoreAtTheirDeadline) {
  const RunResult result = run({}, 1, [](fabric::Host& host) {
    const auto block = host.allocate_memory(4096).value();
    const std::uint64_t deadline_ns = host.now_ns() + 1'000'000;
    host.spawn({}, [block] { block->bytes()[0] = std::byte{1}; });
    EXPECT_EQ(block->wait_until_changed(0, 0, deadline_ns), 1U);
    EXPECT_GE(host.now_ns(), deadline_ns);
  });
  EXPECT_EQ(result.outcome, Outcome::completed) << result.explanation;
}

}  // namespace
}  // namespace falafel::sim
