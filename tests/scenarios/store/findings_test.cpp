// The schedules of tests/replays/store still violate the same property with the same trace hash,
// and hold with all safeguards on.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "explorer/replay.h"
#include "explorer/scripted_strategy.h"
#include "fabric/sim/strategies/replay_strategy.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/run.h"

namespace falafel::store_scenario {
namespace {

std::vector<std::filesystem::path> findings() {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path folder = FALAFEL_SOURCE_FOLDER "/tests/replays/store";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".replay") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(Findings, Replay) {
  ASSERT_FALSE(findings().empty());
  for (const auto& path : findings()) {
    const auto loaded = explorer::load_replay(StoreProgram(), path.string());
    ASSERT_TRUE(loaded.has_value()) << loaded.error();
    Runner runner;
    sim::ReplayStrategy strategy(loaded->file.choices);
    const explorer::Run run = runner.run(*loaded->scenario, strategy);
    EXPECT_EQ(run.result.trace_hash, loaded->file.trace_hash)
        << path << ": recreate it with tools/update-findings\n"
        << run.result.explanation;
    EXPECT_TRUE(run.violates(loaded->property)) << path << " does not violate " << loaded->property;
  }
}

TEST(Findings, DoNotHappenToTheHardenedProtocol) {
  for (const auto& path : findings()) {
    auto loaded = explorer::load_replay(StoreProgram(), path.string());
    ASSERT_TRUE(loaded.has_value()) << loaded.error();
    Scenario scenario = store_scenario(*loaded->scenario);
    scenario.safeguards = engine::Safeguards::hardened();
    Runner runner;
    explorer::ScriptedStrategy strategy(explorer::answers_of(loaded->file.choices), 1);
    const explorer::Run run = runner.run(scenario, strategy);
    EXPECT_TRUE(run.violations.empty()) << path << ": " << run.violations.front().explanation;
  }
}

}  // namespace
}  // namespace falafel::store_scenario
