// Clients that execute batches execute each of their operations once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "checkers/history.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "fabric/sim/trace.h"
#include "fabric/time_units.h"
#include "tools/scenarios/store/run.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {
namespace {

constexpr std::uint32_t operations = 7;
using fabric::microsecond_ns;
constexpr std::uint64_t schedules = 50;

// Three fibers take up to three operations each, all of different keys. The first batch begins
// after a pause in which the others are done.
Scenario scenario_with_a_pause() {
  Scenario scenario;
  scenario.geometry = {.table_entries = 16, .region_bytes = 512, .region_count = 3};
  ClientPlan plan{.fibers = 3, .batch = 3, .operations = {}};
  for (std::uint32_t key = 0; key < operations; ++key) {
    plan.operations.push_back({.kind = OperationKind::get, .key = key});
  }
  plan.operations[0].pause_ns = 2'000 * microsecond_ns;
  scenario.clients = {plan};
  return scenario;
}

// The operations of the only client. The keys are in the order of the calls.
class Calls final : public RunListener {
 public:
  void observe(const sim::TraceEvent& /*event*/) override {}
  void on_memory(std::uint64_t /*step*/, const checkers::MemoryView* /*memory*/) override {}
  void on_call(const checkers::Operation& operation) override {
    if (operation.client == 0) keys.push_back(operation.key);
  }
  void on_return(const checkers::Operation& operation, engine::Answer /*answer*/) override {
    returned += operation.client == 0;
  }

  std::vector<std::string> keys;
  std::uint64_t returned = 0;
};

Calls calls_of(const Scenario& scenario, std::uint64_t seed) {
  Runner runner;
  sim::RandomStrategy strategy(seed);
  Calls calls;
  const explorer::Run run = runner.run(scenario, strategy, &calls);
  EXPECT_TRUE(run.violations.empty()) << run.violations.front().explanation;
  return calls;
}

// A fiber once chose its operations only after the pause before them. Meanwhile, others executed
// operations that the fiber then executed again, in one batch that was longer than all batches may
// be.
TEST(Batches, AreChosenBeforeThePause) {
  std::uint64_t overtaken = 0;
  for (std::uint64_t seed = 0; seed < schedules; ++seed) {
    std::vector<std::string> keys = calls_of(scenario_with_a_pause(), seed).keys;
    overtaken += !keys.empty() && keys.front() != "key 0";
    std::ranges::sort(keys);
    EXPECT_EQ(keys.size(), operations) << seed;
    EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end()) << seed;
  }
  EXPECT_GT(overtaken, 0U) << "no fiber executed operations during the pause of another";
}

// The longer batch left no buffers for further operations when it was cancelled.
TEST(Batches, ThatAreCancelledLeaveBuffersForOthers) {
  Scenario scenario = scenario_with_a_pause();
  std::vector<PlannedOperation>& planned = scenario.clients[0].operations;
  planned[0].cancel_after_ns = microsecond_ns;
  // The same fiber takes these after its cancelled batch.
  for (std::uint32_t key = 0; key < operations; ++key) {
    planned.push_back({.kind = OperationKind::get, .key = key, .pause_ns = 3'000 * microsecond_ns});
  }
  std::uint64_t cancelled = 0;
  for (std::uint64_t seed = 0; seed < schedules; ++seed) {
    const Calls calls = calls_of(scenario, seed);
    EXPECT_LE(calls.keys.size(), planned.size()) << seed;
    cancelled += calls.returned < calls.keys.size();
  }
  EXPECT_GT(cancelled, 0U) << "no batch was cancelled before its operations had ended";
}

}  // namespace
}  // namespace falafel::store_scenario
