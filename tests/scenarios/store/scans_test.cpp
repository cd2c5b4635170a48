// Scenarios in which clients scan all keys: how they are drawn, that they hold, and that the judge
// has something to judge there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checkers/key_scans.h"
#include "engine/probes.h"
#include "explorer/campaign.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "tests/explorer/describe_findings.h"
#include "tests/scenarios/store/drawn_worlds.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/run.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {
namespace {

namespace probes = engine::probes;

ScenarioChoices scans(Share share) {
  ScenarioChoices choices;
  choices.scans = share;
  return choices;
}

std::uint64_t count_scans(const Scenario& scenario) {
  std::uint64_t count = 0;
  for (const ClientPlan& client : scenario.clients) {
    count += static_cast<std::uint64_t>(
        std::ranges::count(client.operations, OperationKind::scan, &PlannedOperation::kind));
  }
  return count;
}

TEST(ScanWorlds, VisitEveryKeyThatStays) {
  const auto result =
      explorer::run_campaign(StoreProgram(scans(Share::only)), {.schedules = 1'000});
  EXPECT_EQ(describe_findings(result), "");
  for (const fabric::Probe& probe : {probes::cleanup_moved_entry, probes::cleanup_wrapped,
                                     probes::restart_at_lock, probes::restart_at_changed_walk}) {
    EXPECT_GT(explorer::count_of(result.probes, probe.name), 0U) << probe.name;
  }
}

TEST(ScanWorlds, VisitEveryKeyOfCachesAndOfTablesThatGrow) {
  ScenarioChoices choices = scans(Share::only);
  choices.caches = Share::some;
  choices.growth = Share::some;
  choices.warm_restarts = Share::some;
  const auto result = explorer::run_campaign(StoreProgram(choices), {.schedules = 1'000});
  EXPECT_EQ(describe_findings(result), "");
  EXPECT_GT(explorer::count_of(result.probes, probes::value_expired.name), 0U);
  EXPECT_GT(explorer::count_of(result.probes, probes::entry_moved_to_table.name), 0U);
}

// The operations and complete scans of a run, as far as they have returned.
class Recording final : public RunListener {
 public:
  void observe(const sim::TraceEvent&) override {}
  void on_memory(std::uint64_t, const checkers::MemoryView*) override {}
  void on_call(const checkers::Operation& operation) override {
    operations_[operation.call_time] = operation;
  }
  void on_return(const checkers::Operation& operation, engine::Answer) override {
    operations_[operation.call_time] = operation;
  }
  void on_scan_returned(const checkers::KeyScan& scan, engine::Answer) override {
    if (scan.is_complete) scans.push_back(scan);
  }
  std::vector<checkers::Operation> operations() const {
    std::vector<checkers::Operation> operations;
    for (const auto& [time, operation] : operations_) operations.push_back(operation);
    return operations;
  }

  std::vector<checkers::KeyScan> scans;

 private:
  std::map<std::uint64_t, checkers::Operation> operations_;
};

// A judge whose keys are all in doubt would accept everything.
TEST(ScanWorlds, HaveKeysThatAreCertainlyThere) {
  ScenarioChoices choices = scans(Share::only);
  choices.hostile = Share::none;
  choices.faults = {sim::FaultKind::client_pause};
  constexpr std::uint64_t seeds = 200;
  std::uint64_t complete = 0;
  std::uint64_t present = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Scenario scenario = draw_scenario(choices, seed);
    Recording recording;
    sim::RandomStrategy strategy(seed);
    const explorer::Run run = Runner().run(scenario, strategy, &recording);
    EXPECT_TRUE(run.violations.empty()) << run.violations.front().explanation;
    const std::vector<checkers::Operation> operations = recording.operations();
    for (const checkers::KeyScan& scan : recording.scans) {
      present += check_key_scan(scan, {.operations = operations}).present_keys;
    }
    complete += recording.scans.size();
  }
  EXPECT_GT(complete, 2 * seeds);
  EXPECT_GT(present, complete / 2);
}

TEST(ScanWorlds, AreDrawnAsChosen) {
  expect_drawn_as_chosen(scans(Share::some),
                         [](const Scenario& scenario) { return count_scans(scenario) > 0; });
  ScenarioChoices weakened = scans(Share::only);
  weakened.safeguards.double_collect = false;
  for (std::uint64_t seed = 1; seed <= drawn_seeds; ++seed) {
    EXPECT_EQ(count_scans(draw_scenario(weakened, seed)), 0U);
    const Scenario scenario = draw_scenario(scans(Share::only), seed);
    EXPECT_GT(count_scans(scenario), 0U) << seed;
    EXPECT_LE(scenario.readahead.chunk_entries, 4U) << seed;
  }
}

TEST(ScanWorlds, SurviveJsonAndAreDocumented) {
  const Scenario scenario = draw_scenario(scans(Share::only), 1);
  const auto parsed = parse_scenario(scenario.to_json());
  ASSERT_TRUE(parsed.has_value()) << parsed.error();
  EXPECT_EQ(parsed->clients, scenario.clients);
  EXPECT_THAT(scenario.describe(), testing::HasSubstr(" scan"));
  const std::string document = replay_file_document();
  EXPECT_THAT(document, testing::HasSubstr("`scan` visits all keys"));
}

}  // namespace
}  // namespace falafel::store_scenario
