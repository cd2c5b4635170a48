// The schedules of docs/findings still show what they were kept for, bit for bit; and with all safeguards
// on, what was violated by them is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fabric/sim/strategies/replay_strategy.h"
#include "tools/fuzz/replay.h"
#include "tools/fuzz/scripted_strategy.h"

namespace falafel::fuzz {
namespace {

std::vector<std::filesystem::path> findings() {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path folder = FALAFEL_SOURCE_FOLDER "/docs/findings";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".replay") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(Findings, Replay) {
  ASSERT_FALSE(findings().empty());
  for (const auto& path : findings()) {
    const auto loaded = load_replay(path.string());
    ASSERT_TRUE(loaded.has_value()) << loaded.error();
    Runner runner;
    sim::ReplayStrategy strategy(loaded->file.choices);
    const StoreRun run = runner.run(loaded->scenario, strategy);
    EXPECT_EQ(run.result.trace_hash, loaded->file.trace_hash)
        << path << ": make it anew with tools/update-findings\n"
        << run.result.explanation;
    const bool is_violated =
        std::ranges::any_of(run.violations, [&](const checkers::Judgement& violation) {
          return violation.property == loaded->property;
        });
    EXPECT_TRUE(is_violated) << path << " does not violate " << loaded->property;
  }
}

TEST(Findings, DoNotHappenToTheHardenedProtocol) {
  for (const auto& path : findings()) {
    auto loaded = load_replay(path.string());
    ASSERT_TRUE(loaded.has_value()) << loaded.error();
    loaded->scenario.safeguards = engine::Safeguards::hardened();
    std::vector<std::uint64_t> answers;
    for (const sim::Choice& choice : loaded->file.choices) answers.push_back(choice.value);
    Runner runner;
    ScriptedStrategy strategy(answers, 1);
    const StoreRun run = runner.run(loaded->scenario, strategy);
    EXPECT_TRUE(run.violations.empty()) << path << ": " << run.violations.front().explanation;
  }
}

}  // namespace
}  // namespace falafel::fuzz
