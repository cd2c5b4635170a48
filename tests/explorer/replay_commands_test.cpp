// The commands that take a replay file, and ablate: exit statuses, what they print and write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "explorer/check.h"
#include "explorer/main.h"
#include "tests/explorer/commands_fixture.h"

namespace falafel::explorer::commands_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// One of its safeguards is needed, the other is not.
void protect_too_much(check::World& world) {
  const bool is_needed = world.safeguard("needed");
  world.safeguard("superfluous");
  world.client("client", [](fabric::Host&) {});
  world.run();
  world.check(is_needed, "unprotected");
}

TEST_F(Commands, ReplayTellsTheRun) {
  const std::string path = find_lost_update();
  const Outcome replayed = run(lose_updates, {"replay", path});
  EXPECT_EQ(replayed.status, 1);
  EXPECT_THAT(replayed.output, HasSubstr("WRITE places the counter: 1"));
  EXPECT_THAT(replayed.output, HasSubstr("critical: choice"));
  EXPECT_THAT(replayed.output, HasSubstr("as recorded"));
  const Outcome quiet = run(lose_updates, {"replay", "--quiet", "--critical-tries", "0", path});
  EXPECT_EQ(quiet.status, 1);
  EXPECT_THAT(quiet.output, Not(HasSubstr("WRITE places")));
  EXPECT_THAT(quiet.output, Not(HasSubstr("critical: choice")));
}

TEST_F(Commands, NoticeThatAProgramHasChanged) {
  const std::string path = find_lost_update();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"replay", path}, std::vector<std::string>{"trace", path},
        std::vector<std::string>{"shrink", path, "--output", folder_ + "/small.replay"}}) {
    const Outcome changed = run(reach_nothing, command);
    EXPECT_EQ(changed.status, 3) << command.front();
    EXPECT_THAT(changed.errors, HasSubstr(path)) << command.front();
  }
}

TEST_F(Commands, RefuseFilesThatCannotBeRead) {
  const std::string missing = folder_ + "/missing.replay";
  for (const char* command : {"replay", "trace"}) {
    const Outcome refused = run(lose_updates, {command, missing});
    EXPECT_EQ(refused.status, 2) << command;
    EXPECT_THAT(refused.errors, HasSubstr(missing)) << command;
  }
  EXPECT_EQ(run(lose_updates, {"shrink", missing, "--output", missing}).status, 2);
}

TEST_F(Commands, TraceWritesPagesNextToTheFile) {
  const std::string path = find_lost_update();
  const std::string page = std::filesystem::path(path).replace_extension(".html").string();
  std::filesystem::remove(page);
  const std::string events = folder_ + "/events.json";
  const Outcome traced = run(lose_updates, {"trace", path, "--perfetto", events});
  EXPECT_EQ(traced.status, 0) << traced.errors;
  EXPECT_THAT(content(page), HasSubstr("<html"));
  EXPECT_FALSE(nlohmann::json::parse(content(events), nullptr, false).is_discarded());
  const Outcome table = run(lose_updates, {"trace", path, "--key-steps"});
  EXPECT_THAT(table.output, HasSubstr("| "));
  EXPECT_THAT(table.output, HasSubstr("**counter.lost-update: does not hold**"));
  const Outcome unwritable = run(lose_updates, {"trace", path, "--output", "/dev/null/page.html"});
  EXPECT_EQ(unwritable.status, 2);
  EXPECT_THAT(unwritable.errors, HasSubstr("/dev/null/page.html"));
}

TEST_F(Commands, ShrinkMakesRunsSmaller) {
  const std::string path = find_lost_update();
  const std::string small = folder_ + "/small.replay";
  const Outcome shrunk = run(lose_updates, {"shrink", path, "--output", small});
  EXPECT_EQ(shrunk.status, 0) << shrunk.errors;
  EXPECT_LT(std::filesystem::file_size(small), std::filesystem::file_size(path));
  EXPECT_EQ(run(lose_updates, {"replay", "--quiet", small}).status, 1);
  EXPECT_EQ(run(lose_updates, {"shrink", path, "--output", "/dev/null/small"}).status, 2);
}

TEST_F(Commands, ShrinkRefusesARunThatHolds) {
  const std::string path = find_lost_update();
  const std::string small = folder_ + "/small.replay";
  const Outcome refused = run(lose_updates_unjudged, {"shrink", path, "--output", small});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.errors, HasSubstr(path + ": violates nothing"));
  EXPECT_FALSE(std::filesystem::exists(small));
}

TEST_F(Commands, ShrinkMakesCrashesSmaller) {
  const auto crash = fuzz_json(abort_always, {"--schedules", "1", "--shrink-seconds", "0"});
  const std::string path = crash["violations"][0]["replay"];
  const std::string small = folder_ + "/small.replay";
  const Outcome shrunk = run(abort_always, {"shrink", path, "--output", small, "--seconds", "1"});
  EXPECT_EQ(shrunk.status, 0) << shrunk.errors;
  EXPECT_TRUE(std::filesystem::exists(small));
  const Outcome cured = run(reach_nothing, {"shrink", path, "--output", small});
  EXPECT_EQ(cured.status, 1);
  EXPECT_THAT(cured.errors, HasSubstr("does not fail any more"));
}

TEST_F(Commands, AblateFailsIfASafeguardIsNotNeeded) {
  const std::vector<std::string> ablate = {
      "ablate", "--seconds-per-safeguard", "0.2", "--output", folder_, "--json"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), ablate.begin(), ablate.end());
    return run(protect_too_much, more);
  };
  const Outcome all = with({});
  EXPECT_EQ(all.status, 1);
  const auto rows = nlohmann::json::parse(all.output);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["safeguard"], "needed");
  EXPECT_EQ(rows[0]["caught"], true);
  EXPECT_EQ(rows[1]["safeguard"], "superfluous");
  EXPECT_EQ(rows[1]["caught"], false);
  const Outcome one = with({"--safeguard", "needed", "--repeat", "3"});
  EXPECT_EQ(one.status, 0);
  EXPECT_EQ(nlohmann::json::parse(one.output).size(), 1U);
  EXPECT_EQ(nlohmann::json::parse(one.output)[0]["searches"].size(), 3U);
  const Outcome unknown = with({"--safeguard", "unknown"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("choose one of needed, superfluous"));
}

TEST_F(Commands, AblateNeedsSafeguards) {
  const Outcome none = run(reach_nothing, {"ablate", "--output", folder_});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.errors, HasSubstr("has no safeguards"));
}

TEST_F(Commands, AskForAProgramIfThereAreSeveral) {
  const auto first = check::program("first", reach_nothing);
  const auto second = check::program("second", lose_updates);
  const std::vector<const Program*> both = {first.get(), second.get()};
  const std::vector<std::string> fuzz = {"fuzz", "--output", folder_, "--schedules", "100"};
  EXPECT_EQ(run_main(fuzz, both).status, 2);
  auto chosen = fuzz;
  chosen.insert(chosen.end(), {"--program", "second", "--shrink-seconds", "0"});
  EXPECT_EQ(run_main(chosen, both).status, 1);
  // Other commands read from the file which program it is.
  const auto files = std::filesystem::directory_iterator(folder_);
  const auto replay = std::ranges::find_if(
      files, [](const auto& file) { return file.path().extension() == ".replay"; });
  const std::string path = replay->path().string();
  EXPECT_EQ(run_main({"replay", "--quiet", path}, both).status, 1);
}

}  // namespace
}  // namespace falafel::explorer::commands_test
