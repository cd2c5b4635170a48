// The schedules of tests/replays/race still violate the same property with the same trace hash, and
// their scenarios hold with all safeguards on.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "explorer/check/scenario.h"
#include "explorer/replay.h"
#include "explorer/scripted_strategy.h"
#include "fabric/sim/strategies/replay_strategy.h"
#include "stores/race/options.h"
#include "tools/scenarios/race/program.h"

namespace falafel::race_scenario {
namespace {

std::set<std::filesystem::path> findings() {
  std::set<std::filesystem::path> paths;
  const std::filesystem::path folder = FALAFEL_SOURCE_FOLDER "/tests/replays/race";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".replay") paths.insert(entry.path());
  }
  return paths;
}

TEST(Findings, Replay) {
  const auto program = make_program();
  // All but absence validation (docs/stores/race.md).
  ASSERT_EQ(findings().size(), race::safeguard_descriptions.size() - 1);
  for (const auto& path : findings()) {
    const auto loaded = explorer::load_replay(*program, path.string());
    ASSERT_TRUE(loaded.has_value()) << loaded.error();
    sim::ReplayStrategy strategy(loaded->file.choices);
    const explorer::Run run = program->create_runner()->run(*loaded->scenario, strategy);
    EXPECT_EQ(run.result.trace_hash, loaded->file.trace_hash)
        << path << ": docs/stores/race.md has the command that records it again\n"
        << run.result.explanation;
    EXPECT_TRUE(run.violates(loaded->property)) << path << " does not violate " << loaded->property;
  }
}

TEST(Findings, DoNotHappenWithAllSafeguards) {
  const auto program = make_program();
  for (const auto& path : findings()) {
    const auto loaded = explorer::load_replay(*program, path.string());
    ASSERT_TRUE(loaded.has_value()) << loaded.error();
    check::WorldScenario scenario = check::world_scenario(*loaded->scenario);
    scenario.without.clear();
    explorer::ScriptedStrategy strategy(explorer::answers_of(loaded->file.choices), 1);
    const explorer::Run run = program->create_runner()->run(scenario, strategy);
    EXPECT_TRUE(run.violations.empty()) << path << ": " << run.violations.front().explanation;
  }
}

}  // namespace
}  // namespace falafel::race_scenario
