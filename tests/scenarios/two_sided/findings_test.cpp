// The schedules of tests/replays/two-sided still violate the same property with the same trace
// hash, and their scenarios hold with all safeguards on.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "explorer/check/scenario.h"
#include "explorer/replay.h"
#include "explorer/scripted_strategy.h"
#include "fabric/sim/strategies/replay_strategy.h"
#include "tools/scenarios/two_sided/program.h"

namespace falafel::two_sided_scenario {
namespace {

using fabric::Transport;

// The replay files of a transport are in a folder of its name.
class Findings : public testing::TestWithParam<Transport> {
 protected:
  std::set<std::filesystem::path> paths() const {
    const std::string transport(program_->name().substr(std::string("two-sided-").size()));
    std::set<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(
             FALAFEL_SOURCE_FOLDER "/tests/replays/two-sided/" + transport)) {
      paths.insert(entry.path());
    }
    return paths;
  }

  std::unique_ptr<check::WorldProgram> program_ = make_program(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Each, Findings,
                         testing::Values(Transport::reliable_connection,
                                         Transport::unreliable_connection,
                                         Transport::unreliable_datagram,
                                         Transport::message_stream));

TEST_P(Findings, Replay) {
  // A hang of UD is due to a way of waiting, which is no safeguard.
  const std::size_t hangs = GetParam() == Transport::unreliable_datagram ? 1 : 0;
  ASSERT_EQ(paths().size(), program_->safeguards().size() + hangs);
  for (const auto& path : paths()) {
    const auto loaded = explorer::load_replay(*program_, path.string());
    ASSERT_TRUE(loaded.has_value()) << loaded.error();
    sim::ReplayStrategy strategy(loaded->file.choices);
    const explorer::Run run = program_->create_runner()->run(*loaded->scenario, strategy);
    EXPECT_EQ(run.result.trace_hash, loaded->file.trace_hash)
        << path << ": docs/stores/two-sided.md has the command that records it again\n"
        << run.result.explanation;
    EXPECT_TRUE(run.violates(loaded->property)) << path << " does not violate " << loaded->property;
  }
}

TEST_P(Findings, DoNotHappenWithAllSafeguards) {
  for (const auto& path : paths()) {
    const auto loaded = explorer::load_replay(*program_, path.string());
    ASSERT_TRUE(loaded.has_value()) << loaded.error();
    check::WorldScenario scenario = check::world_scenario(*loaded->scenario);
    ASSERT_FALSE(scenario.without.empty()) << path;
    scenario.without.clear();
    explorer::ScriptedStrategy strategy(explorer::answers_of(loaded->file.choices), 1);
    const explorer::Run run = program_->create_runner()->run(scenario, strategy);
    EXPECT_TRUE(run.violations.empty()) << path << ": " << run.violations.front().explanation;
  }
}

}  // namespace
}  // namespace falafel::two_sided_scenario
