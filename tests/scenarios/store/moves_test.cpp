// Scenarios in which the cleanup moves keys while clients look for them: how they are drawn, that
// they hold, and that searches and scans meet moves there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "engine/probes.h"
#include "explorer/campaign.h"
#include "tests/explorer/describe_findings.h"
#include "tests/scenarios/store/drawn_worlds.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {
namespace {

ScenarioChoices moves(Share share, Share scans = Share::none) {
  ScenarioChoices choices;
  choices.moves = share;
  choices.scans = scans;
  return choices;
}

// Nothing but stalls strikes where keys move. Other scenarios have such faults only by chance.
bool has_moves(const Scenario& scenario) {
  sim::SimulationOptions without_stalls = scenario.simulation;
  without_stalls.set_fault_rate(sim::FaultKind::late_packets, 0);
  without_stalls.set_fault_rate(sim::FaultKind::server_stall, 0);
  return without_stalls.fault_rates == sim::SimulationOptions{}.fault_rates &&
         scenario.cleanups.size() >= 16;
}

bool has_scans(const Scenario& scenario) {
  return std::ranges::any_of(scenario.clients, [](const ClientPlan& client) {
    return std::ranges::count(client.operations, OperationKind::scan, &PlannedOperation::kind) > 0;
  });
}

void expect_moves_to_be_met(const ScenarioChoices& choices) {
  constexpr std::uint64_t schedules = 500;
  const auto result = explorer::run_campaign(StoreProgram(choices), {.schedules = schedules});
  EXPECT_EQ(describe_findings(result), "");
  for (const fabric::Probe& probe :
       {engine::probes::cleanup_moved_entry, engine::probes::restart_at_lock,
        engine::probes::restart_at_changed_walk}) {
    EXPECT_GT(explorer::count_of(result.probes, probe.name), schedules) << probe.name;
  }
}

TEST(MoveWorlds, HoldBesideSearches) { expect_moves_to_be_met(moves(Share::only)); }

TEST(MoveWorlds, HoldBesideScans) { expect_moves_to_be_met(moves(Share::only, Share::only)); }

TEST(MoveWorlds, HoldBesideATableThatGrows) {
  constexpr std::uint64_t schedules = 500;
  ScenarioChoices choices = moves(Share::only);
  choices.growth = Share::only;
  const auto result = explorer::run_campaign(StoreProgram(choices), {.schedules = schedules});
  EXPECT_EQ(describe_findings(result), "");
  for (const fabric::Probe& probe :
       {engine::probes::table_growth_began, engine::probes::met_frozen_slot}) {
    EXPECT_GT(explorer::count_of(result.probes, probe.name), schedules / 2) << probe.name;
  }
}

TEST(MoveWorlds, AreDrawnAsChosen) {
  expect_drawn_as_chosen(moves(Share::some), has_moves);
  ScenarioChoices ablated = moves(Share::only);
  ablated.safeguards.exclusion = false;
  for (std::uint64_t seed = 1; seed <= drawn_seeds; ++seed) {
    EXPECT_FALSE(has_moves(draw_scenario(ablated, seed))) << seed;
  }
}

TEST(MoveWorlds, HaveScansIfOthersHave) {
  ScenarioChoices choices = moves(Share::only);
  choices.tag_worlds = Share::none;
  for (std::uint64_t seed = 1; seed <= drawn_seeds; ++seed) {
    choices.scans = Share::none;
    EXPECT_FALSE(has_scans(draw_scenario(choices, seed))) << seed;
    choices.scans = Share::only;
    EXPECT_TRUE(has_scans(draw_scenario(choices, seed))) << seed;
  }
}

}  // namespace
}  // namespace falafel::store_scenario
