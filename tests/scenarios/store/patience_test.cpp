// The checkers wait at the end of a run as long as a correct server may take, and no longer.
#include "tools/scenarios/store/patience.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "explorer/failing_run.h"
#include "tools/scenarios/store/run.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {
namespace {

ScenarioChoices all_kinds() {
  ScenarioChoices choices;
  choices.growth = Share::some;
  choices.warm_restarts = Share::some;
  choices.memory_growth = Share::some;
  return choices;
}

// The first of the properties that a run violates; empty if it holds.
std::string violation_of(const Scenario& scenario, std::uint64_t seed) {
  Runner runner;
  return runner.run(scenario, *explorer::make_seeded_strategy(scenario, seed)).property();
}

// A client that the server has lost is silent for 50 ms, and the audit walks over 100 entries every
// 2 microseconds meanwhile. The step limit once ended such runs.
constexpr std::uint64_t seed_with_many_audits = 70'372'592;

TEST(Patience, IsNotCutOffByTheStepLimit) {
  const Scenario scenario = draw_scenario(all_kinds(), seed_with_many_audits);
  EXPECT_EQ(violation_of(scenario, seed_with_many_audits), "");
}

// Without heartbeats, the server never gives up on that client.
TEST(Patience, EndsBeforeTheStepLimit) {
  Scenario scenario = draw_scenario(all_kinds(), seed_with_many_audits);
  scenario.safeguards.heartbeats = false;
  EXPECT_EQ(violation_of(scenario, seed_with_many_audits), "progress.server");
}

// The audits take all the time that there is, so with strict priorities, the other fibers of the
// server had no turn before the checkers had lost their patience.
TEST(Patience, IsNotExhaustedByAnUnfairSchedule) {
  for (const std::uint64_t seed : {72'899'485U, 74'316'945U}) {
    EXPECT_EQ(violation_of(draw_scenario(all_kinds(), seed), seed), "") << seed;
  }
}

// The server tries to move an entry to a full table with each audit, and each attempt posts four
// verbs. With strict priorities, the client whose operation is pending has no turn meanwhile.
TEST(Patience, IsNotExhaustedByTheServersOwnVerbs) {
  constexpr std::uint64_t seed_with_many_moves = 71'430'607;
  const Scenario scenario = draw_scenario(all_kinds(), seed_with_many_moves);
  EXPECT_EQ(violation_of(scenario, seed_with_many_moves), "");
}

// A client that the server has fenced has a request that never lands, so the others wait in vain
// for the end of all operations, with a heartbeat every 10 microseconds. A wait of a second once
// took all steps.
TEST(Patience, EndsAWaitForTheEndOfAllOperations) {
  constexpr std::uint64_t seed_with_late_request = 5'005'140;
  ScenarioChoices choices;
  choices.ends = Share::only;
  const Scenario scenario = draw_scenario(choices, seed_with_late_request);
  EXPECT_EQ(violation_of(scenario, seed_with_late_request), "");
}

TEST(Patience, HasAStepLimitOfItsOwnInFewScenarios) {
  std::uint64_t count = 0;
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    EXPECT_EQ(draw_scenario({}, seed).simulation.step_limit, 400'000U) << seed;
    const Scenario scenario = draw_scenario(all_kinds(), seed);
    const std::uint64_t audits = 2 * scenario.heartbeat_timeout_ns / scenario.cleanup_interval_ns;
    EXPECT_GT(scenario.simulation.step_limit, audits * (1 + scenario.geometry.slot_count() / 8))
        << seed;
    if (scenario.simulation.step_limit > 400'000) ++count;
  }
  EXPECT_GT(count, 0U);
  EXPECT_LT(count, 200U);
}

TEST(Patience, OutlastsABrokenConnectionOfTheServerToItself) {
  constexpr std::uint64_t seed_with_broken_connection = 71'974'512;
  const Scenario scenario = draw_scenario(all_kinds(), seed_with_broken_connection);
  EXPECT_EQ(violation_of(scenario, seed_with_broken_connection), "");
}

// A hostile client swaps entries until after the end of the faults. The server audits the table all
// the time, and its connections break until then.
Scenario attacked_scenario(std::uint64_t seed) {
  ScenarioChoices choices;
  choices.hostile = Share::only;
  choices.tag_worlds = Share::none;
  Scenario scenario = draw_scenario(choices, seed);
  scenario.clients.resize(1);
  scenario.clients.front().operations.resize(1);
  scenario.attacks.resize(10, scenario.attacks.front());
  for (PlannedAttack& attack : scenario.attacks) {
    attack.kind = seed % 2 == 0 ? AttackKind::lying_container : AttackKind::flag_entry;
    attack.number |= 2;  // the flag is a lock
    attack.pause_ns = 0;
  }
  scenario.cleanup_interval_ns = 2'000;
  scenario.heartbeat_timeout_ns = 500'000;
  sim::SimulationOptions& options = scenario.simulation;
  options.step_duration_ns = 1'000;
  options.fault_rates = {};
  options.set_fault_rate(sim::FaultKind::queue_pair_error, 120);
  options.last_fault_step = 300 + seed % 3 * 150;
  return scenario;
}

constexpr std::uint64_t attacked_seeds = 2'000;

TEST(Patience, OutlastsBrokenConnectionsOfAnyKind) {
  for (std::uint64_t seed = 1; seed <= attacked_seeds; ++seed) {
    EXPECT_EQ(violation_of(attacked_scenario(seed), seed), "") << seed;
  }
}

// Only stores without bounded walks have an audit that repairs nothing.
TEST(Patience, EndsWithAnAuditThatRepairsNothing) {
  std::set<std::string> found;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Scenario scenario = attacked_scenario(seed);
    scenario.safeguards.bounded_walks = false;
    found.insert(violation_of(scenario, seed));
  }
  EXPECT_TRUE(found.contains("collector.dangling-entry"));
  EXPECT_TRUE(found.contains("table.locked"));
}

}  // namespace
}  // namespace falafel::store_scenario
