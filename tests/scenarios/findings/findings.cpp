#include "tests/scenarios/findings/findings.h"

#include <gtest/gtest.h>

#include "explorer/check/scenario.h"
#include "explorer/replay.h"
#include "explorer/scripted_strategy.h"
#include "fabric/sim/strategies/replay_strategy.h"

namespace falafel::findings {

std::set<std::filesystem::path> replays_in(const std::string& folder) {
  std::set<std::filesystem::path> paths;
  const std::string replays = FALAFEL_SOURCE_FOLDER "/tests/replays/";
  for (const auto& entry : std::filesystem::directory_iterator(replays + folder)) {
    if (entry.path().extension() == ".replay") paths.insert(entry.path());
  }
  return paths;
}

void expect_violations(const check::WorldProgram& program, const std::string& folder,
                       std::string_view document) {
  for (const auto& path : replays_in(folder)) {
    const auto loaded = explorer::load_replay(program, path.string());
    ASSERT_TRUE(loaded.has_value()) << loaded.error();
    sim::ReplayStrategy strategy(loaded->file.choices);
    const explorer::Run run = program.create_runner()->run(*loaded->scenario, strategy);
    EXPECT_EQ(run.result.trace_hash, loaded->file.trace_hash)
        << path << ": " << document << " has the command that records it again\n"
        << run.result.explanation;
    EXPECT_TRUE(run.violates(loaded->property)) << path << " does not violate " << loaded->property;
  }
}

void expect_none_with_all_safeguards(const check::WorldProgram& program,
                                     const std::string& folder) {
  for (const auto& path : replays_in(folder)) {
    const auto loaded = explorer::load_replay(program, path.string());
    ASSERT_TRUE(loaded.has_value()) << loaded.error();
    check::WorldScenario scenario = check::world_scenario(*loaded->scenario);
    ASSERT_FALSE(scenario.without.empty()) << path;
    scenario.without.clear();
    explorer::ScriptedStrategy strategy(explorer::answers_of(loaded->file.choices), 1);
    const explorer::Run run = program.create_runner()->run(scenario, strategy);
    EXPECT_TRUE(run.violations.empty()) << path << ": " << run.violations.front().explanation;
  }
}

}  // namespace falafel::findings
