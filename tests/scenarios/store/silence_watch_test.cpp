// The checker of silence in runs: it judges the server by another heartbeat timeout than the server
// has, so the server gives up on its clients too early.
#include <gtest/gtest.h>

#include <cstdint>

#include "checkers/judgement.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "tools/scenarios/store/run_observer.h"
#include "tools/scenarios/store/silence_watch.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {
namespace {

constexpr std::uint64_t timeout_ns = 200'000;

class Listener final : public RunListener {
 public:
  Listener(const Scenario& judged, const StoreWorld& world) : watch(judged, world) {}

  void introduce(const sim::Subject& subject) override { watch.introduce(subject); }
  void observe(const sim::TraceEvent& event) override { watch.observe(event); }
  void observe_pause(const sim::Pause& pause) override { watch.observe_pause(pause); }
  void on_memory(std::uint64_t /*step*/, const checkers::MemoryView* /*memory*/) override {}
  void on_call(const checkers::Operation& /*operation*/) override {}
  void on_return(const checkers::Operation& /*operation*/, engine::Answer /*answer*/) override {}

  SilenceWatch watch;
};

// The judgement of a run in which the hostile client, and a client that stops, are silent.
checkers::Judgement judge_by(std::uint64_t judged_timeout_ns, bool processor_preemption = false) {
  Scenario scenario;
  scenario.geometry = {.table_entries = 8, .region_bytes = 256, .region_count = 4};
  scenario.heartbeat_timeout_ns = timeout_ns;
  scenario.simulation.processor_preemption = processor_preemption;
  ClientPlan plan;
  for (std::uint32_t key = 0; key < 40; ++key) {
    plan.operations.push_back({.kind = OperationKind::set,
                               .key = key % 5,
                               .value_bytes = usual_value_bytes,
                               .pause_ns = timeout_ns / 8});
  }
  scenario.clients = {plan, plan};
  scenario.attacks = {{.kind = AttackKind::evasion}};
  Scenario judged = scenario;
  judged.heartbeat_timeout_ns = judged_timeout_ns;
  StoreWorld world(scenario, nullptr);
  Listener listener(judged, world);
  RunObserver observer(scenario, world, {.paranoid = false, .listener = &listener});
  world.watch_operations(observer);
  sim::RandomStrategy strategy(3);
  fabric::FiberStackPool stacks;
  sim::Simulation simulation(scenario.simulation, strategy, stacks, &observer);
  world.add_hosts(simulation);
  simulation.add_host({.name = "fault"}, [&](fabric::Host& host) {
    host.sleep_until(timeout_ns);
    simulation.pause(client_name(1), 4 * timeout_ns);
  });
  simulation.run();
  return listener.watch.judgement();
}

TEST(SilenceWatch, HoldsByTheTimeoutOfTheServer) {
  const checkers::Judgement judgement = judge_by(timeout_ns);
  EXPECT_EQ(judgement.verdict, checkers::Verdict::holds) << judgement.explanation;
}

TEST(SilenceWatch, FindsAServerThatGivesUpTooEarly) {
  EXPECT_EQ(judge_by(3 * timeout_ns).property, "silence.fenced-early");
}

TEST(SilenceWatch, JudgesNoServerThatMayBePreempted) {
  EXPECT_EQ(judge_by(3 * timeout_ns, true).verdict, checkers::Verdict::holds);
}

}  // namespace
}  // namespace falafel::store_scenario
