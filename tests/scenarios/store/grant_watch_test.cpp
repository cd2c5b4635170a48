// The checker of grants in runs: it judges a server that keeps no reserve as one that does.
#include <gtest/gtest.h>

#include <cstdint>

#include "checkers/judgement.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "tools/scenarios/store/grant_watch.h"
#include "tools/scenarios/store/run_observer.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {
namespace {

class GrantListener final : public RunListener {
 public:
  GrantListener(const Scenario& judged, const StoreWorld& world) : watch(judged, world) {}

  void introduce(const sim::Subject& subject) override { watch.introduce(subject); }
  void observe(const sim::TraceEvent& event) override { watch.observe(event); }
  void on_memory(std::uint64_t /*step*/, const checkers::MemoryView* /*memory*/) override {}
  void on_call(const checkers::Operation& /*operation*/) override {}
  void on_return(const checkers::Operation& /*operation*/, engine::Answer /*answer*/) override {}

  GrantWatch watch;
};

// The judgement of a run in which a client stores more keys than the store has memory for.
checkers::Judgement judge_with(bool server_keeps_reserve, const engine::Safeguards& safeguards) {
  Scenario scenario;
  scenario.geometry = {.table_entries = 32,
                       .region_bytes = 256,
                       .region_count = 3,
                       .mature_bytes = std::uint64_t{6} * 256};
  scenario.safeguards = safeguards;
  scenario.keeps_overwrite_reserve = server_keeps_reserve;
  ClientPlan plan;
  for (std::uint32_t key = 0; key < 30; ++key) {
    plan.operations.push_back({.kind = OperationKind::set, .key = key, .value_bytes = 40});
  }
  scenario.clients = {plan};
  Scenario judged = scenario;
  judged.keeps_overwrite_reserve = true;
  StoreWorld world(scenario, nullptr);
  GrantListener listener(judged, world);
  RunObserver observer(scenario, world, {.paranoid = false, .listener = &listener});
  world.watch_operations(observer);
  sim::RandomStrategy strategy(3);
  fabric::FiberStackPool stacks;
  sim::Simulation simulation(scenario.simulation, strategy, stacks, &observer);
  world.add_hosts(simulation);
  simulation.run();
  return listener.watch.judgement();
}

TEST(GrantWatch, HoldsForAServerThatKeepsTheReserve) {
  const checkers::Judgement judgement = judge_with(true, engine::Safeguards::hardened());
  EXPECT_EQ(judgement.verdict, checkers::Verdict::holds) << judgement.explanation;
}

TEST(GrantWatch, FindsAServerThatGrantsTheReserveToAnyKey) {
  EXPECT_EQ(judge_with(false, engine::Safeguards::hardened()).property, "grant.of-reserve");
}

TEST(GrantWatch, JudgesOnlyTheHardenedProtocol) {
  EXPECT_EQ(judge_with(false, engine::Safeguards::published()).verdict, checkers::Verdict::holds);
}

}  // namespace
}  // namespace falafel::store_scenario
