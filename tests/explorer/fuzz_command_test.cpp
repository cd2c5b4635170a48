// The command fuzz: its exit statuses, what it prints and what it writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "explorer/campaign.h"
#include "explorer/check.h"
#include "processes/child_process.h"
#include "tests/explorer/commands_fixture.h"

namespace falafel::explorer::commands_test {
namespace {

using testing::HasSubstr;

// Fails in one of 15,000 schedules on average.
void fail_rarely(check::World& world) {
  const bool fails = world.choose(15'000) == 0;
  world.run();
  world.check(!fails, "rare");
}

std::string without_suffix(const std::string& path) {
  return std::filesystem::path(path).replace_extension().string();
}

TEST_F(Commands, FuzzRecordsWhatFails) {
  const std::string path = without_suffix(find_lost_update());
  std::filesystem::remove_all(folder_);
  const Outcome fuzzed = fuzz(lose_updates, {"--shrink-seconds", "5"});
  EXPECT_EQ(fuzzed.status, 1) << fuzzed.errors;
  EXPECT_THAT(fuzzed.output, HasSubstr("VIOLATED counter.lost-update"));
  EXPECT_THAT(fuzzed.output, HasSubstr("View it:\n  " + path + ".html"));
  EXPECT_THAT(fuzzed.output, HasSubstr("Replay it with:\n  example replay " + path + ".replay"));
  EXPECT_TRUE(std::filesystem::exists(path + ".replay"));
  EXPECT_THAT(content(path + ".html"), HasSubstr("<html"));
  const auto violation = fuzz_json(lose_updates, {"--shrink-seconds", "5"})["violations"][0];
  EXPECT_LT(violation["steps_after"], violation["steps_before"]);
  const auto unshrunk = fuzz_json(lose_updates, {"--shrink-seconds", "0"})["violations"][0];
  EXPECT_EQ(unshrunk["steps_after"], unshrunk["steps_before"]);
}

TEST_F(Commands, FuzzBeginsWithItsSeed) {
  const auto at = [&](const std::string& seed) {
    return fuzz_json(reach_nothing, {"--seed", seed})["campaign_hash"];
  };
  EXPECT_EQ(at("5"), at("5"));
  EXPECT_NE(at("5"), at("6"));
  EXPECT_THAT(fuzz(reach_nothing, {"--seed", "5", "--jobs", "3"}).output,
              HasSubstr("seeds from 5 on, 3 jobs"));
}

TEST_F(Commands, FuzzStopsAfterAViolation) {
  const std::vector<std::string> many = {"--schedules", "1000000000000", "--shrink-seconds", "0",
                                         "--stop"};
  EXPECT_EQ(fuzz(lose_updates, many).status, 1);
  EXPECT_EQ(run(hold, {"fuzz", "--seconds", "0.1", "--output", folder_}).status, 0);
}

// Only a campaign that was run to its end judges conditions.
TEST_F(Commands, FuzzFailsIfAConditionIsNeverReached) {
  const Outcome never = fuzz(reach_nothing, {});
  EXPECT_EQ(never.status, 1);
  EXPECT_THAT(never.output, HasSubstr("no run reached the condition \"never reached\""));
  EXPECT_EQ(fuzz(reach_nothing, {"--schedules", "1000000000000", "--seconds", "0.1"}).status, 0);
}

TEST_F(Commands, FuzzReportsCrashes) {
  const Outcome crashed = fuzz(abort_always, {"--schedules", "2", "--shrink-seconds", "0"});
  EXPECT_EQ(crashed.status, 3) << crashed.errors;
  EXPECT_THAT(crashed.output, HasSubstr("VIOLATED crash"));
}

// Without a number of schedules, the time alone ends a campaign: this one stops behind the number
// that is usual otherwise.
TEST_F(Commands, FuzzRunsForATimeAlone) {
  const Outcome outcome =
      run(fail_rarely, {"fuzz", "--seconds", "600", "--stop", "--shrink-seconds", "0", "--output",
                        folder_, "--json"});
  EXPECT_EQ(outcome.status, 1) << outcome.errors;
  EXPECT_GT(nlohmann::json::parse(outcome.output)["schedules"], CampaignOptions().schedules);
}

TEST_F(Commands, FuzzRefusesWhatIsNoShard) {
  for (const char* shard : {"0/2", "3/2", "1", "1/2x", "-1/2", "one/2"}) {
    const Outcome refused = fuzz(hold, {"--shard", shard});
    EXPECT_EQ(refused.status, 2) << shard;
    EXPECT_THAT(refused.errors, HasSubstr("--shard " + std::string(shard)));
  }
}

TEST_F(Commands, FuzzContinuesItsResults) {
  const std::string results = folder_ + "/results.json";
  const auto run_more = [&](const std::string& schedules, std::vector<std::string> more) {
    more.insert(more.begin(), {"--schedules", schedules, "--results", results});
    return fuzz(hold, more);
  };
  EXPECT_EQ(run_more("30", {}).status, 0);
  EXPECT_THAT(run_more("30", {}).errors, HasSubstr("--resume"));
  const Outcome resumed = run_more("80", {"--resume", "--json"});
  EXPECT_EQ(resumed.status, 0) << resumed.errors;
  const auto whole = fuzz_json(hold, {"--schedules", "80"});
  EXPECT_EQ(nlohmann::json::parse(resumed.output)["campaign_hash"], whole["campaign_hash"]);
  EXPECT_EQ(nlohmann::json::parse(resumed.output)["schedules"], 80);
  const Outcome other = run_more("80", {"--resume", "--seed", "5"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.errors, HasSubstr("seeds 1 to 80"));
  const Outcome with_option = run_more("80", {"--resume", "--simulator", "mtu_bytes=512"});
  EXPECT_EQ(with_option.status, 2);
}

// SIGTERM ends the campaign in order: what was run is saved, and can be continued.
TEST_F(Commands, FuzzSavesWhatItHasWhenASignalEndsIt) {
  const std::string results = folder_ + "/results.json";
  const std::string begun = folder_ + "/begun";
  const auto body = [&](check::World& world) {
    std::ofstream(begun) << "yes";
    hold(world);
  };
  processes::ChildProcess campaign([&] {
    return fuzz(body, {"--schedules", "1000000000", "--jobs", "2", "--results", results}).status;
  });
  while (!std::filesystem::exists(begun)) std::this_thread::yield();
  campaign.send_signal(SIGTERM);
  EXPECT_EQ(campaign.wait().exit_status(), 4);
  const auto saved = nlohmann::json::parse(content(results));
  const std::uint64_t schedules = saved["seeds"][0]["count"];
  EXPECT_GE(schedules, 1U);
  EXPECT_EQ(saved["schedules"], schedules);
  const std::string more = std::to_string(schedules + 20);
  const Outcome resumed =
      fuzz(body, {"--schedules", more, "--results", results, "--resume", "--json"});
  EXPECT_EQ(resumed.status, 0) << resumed.errors;
  EXPECT_EQ(nlohmann::json::parse(resumed.output)["campaign_hash"],
            fuzz_json(hold, {"--schedules", more})["campaign_hash"]);
}

TEST_F(Commands, FuzzShowsOneSeed) {
  const std::string events = folder_ + "/events.json";
  const auto json = fuzz_json(lose_updates, {"--shrink-seconds", "0"});
  const std::string seed = std::to_string(json["violations"][0]["seed"].get<std::uint64_t>());
  const Outcome traced = fuzz(lose_updates, {"--trace-seed", seed, "--perfetto", events});
  EXPECT_EQ(traced.status, 1) << traced.errors;
  EXPECT_THAT(traced.output, HasSubstr("seed " + seed + ": "));
  EXPECT_THAT(content(folder_ + "/trace.html"), HasSubstr("<html"));
  EXPECT_FALSE(nlohmann::json::parse(content(events), nullptr, false).is_discarded());
  EXPECT_EQ(fuzz(reach_nothing, {"--trace-seed", "1"}).status, 0);
  EXPECT_EQ(fuzz(reach_nothing, {"--perfetto", events}).status, 2);
}

TEST_F(Commands, FuzzNamesAFolderThatItCannotWrite) {
  const Outcome refused = run(reach_nothing, {"fuzz", "--output", "/dev/null/folder"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("--output /dev/null/folder"));
}

}  // namespace
}  // namespace falafel::explorer::commands_test
