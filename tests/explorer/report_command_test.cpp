// The commands merge and report, on the results of shards of a campaign.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "explorer/campaign_result.h"
#include "explorer/check.h"
#include "tests/explorer/commands_fixture.h"

namespace falafel::explorer::commands_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Shards of a campaign, each with its file, add up to the whole.
TEST_F(Commands, MergeAddsUpShards) {
  const auto whole = fuzz_json(lose_updates, {"--schedules", "90", "--shrink-seconds", "0"});
  std::vector<std::string> merge = {"merge", "--json"};
  for (const std::string shard : {"2", "3", "1"}) {
    merge.push_back(folder_ + "/" + shard + ".json");
    const Outcome outcome =
        fuzz(lose_updates, {"--schedules", "90", "--shard", shard + "/3", "--results", merge.back(),
                            "--shrink-seconds", "0"});
    EXPECT_EQ(outcome.status, 1) << outcome.errors;
  }
  const Outcome merged = run(lose_updates, merge);
  EXPECT_EQ(merged.status, 1) << merged.errors;
  const auto sum = nlohmann::json::parse(merged.output);
  for (const char* count : {"schedules", "steps", "campaign_hash", "probes", "faults"}) {
    EXPECT_EQ(sum[count], whole[count]) << count;
  }
  EXPECT_EQ(sum["violations"][0]["seed"], whole["violations"][0]["seed"]);
  EXPECT_EQ(sum["violations"][0]["schedules"], whole["violations"][0]["schedules"]);

  merge.push_back(merge.back());
  const Outcome twice = run(lose_updates, merge);
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.errors, HasSubstr("both have run the seed 1"));
  const std::string output = folder_ + "/sum.json";
  const Outcome text = run(lose_updates, {"merge", merge[2], merge[3], "--output", output});
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.output, HasSubstr("2, 5 ... 89 (30 seeds); 3, 6 ... 90 (30 seeds)"));
  EXPECT_TRUE(std::filesystem::exists(output));
}

TEST_F(Commands, MergeJudgesTheConditionsOfTheWhole) {
  const std::string results = folder_ + "/results.json";
  const Outcome shard =
      fuzz(reach_nothing, {"--schedules", "10", "--shard", "1/2", "--results", results});
  EXPECT_EQ(shard.status, 0) << "another shard may reach the condition";
  const Outcome merged = run(reach_nothing, {"merge", results});
  EXPECT_EQ(merged.status, 1);
  EXPECT_THAT(merged.output, HasSubstr("VIOLATED sometimes"));
}

// Reports

class Reports : public Commands {
 protected:
  // Runs the shards of a campaign and returns the words of `report` for their files.
  std::vector<std::string> run_shards(const check::Body& body, int schedules = 60) const {
    std::vector<std::string> words = {"report", "--output", page_, "--shrink-seconds", "2"};
    for (const std::string shard : {"1", "2", "3"}) {
      words.push_back(folder_ + "/" + shard + ".json");
      const Outcome outcome =
          fuzz(body, {"--schedules", std::to_string(schedules), "--shard", shard + "/3",
                      "--results", words.back(), "--shrink-seconds", "0"});
      EXPECT_NE(outcome.status, 2) << outcome.errors;
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() == ".replay") std::filesystem::remove(entry.path());
    }
    return words;
  }
  std::size_t replay_files() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      count += entry.path().extension() == ".replay" ? 1U : 0U;
    }
    return count;
  }

  const std::string page_ = folder_ + "/page.html";
};

TEST_F(Reports, ShrinkWhatSeveralShardsFoundOnce) {
  const Outcome reported = run(lose_updates, run_shards(lose_updates));
  EXPECT_EQ(reported.status, 1) << reported.errors;
  EXPECT_THAT(reported.output, HasSubstr("60 schedules, 1 finding, 1 of them new"));
  EXPECT_EQ(replay_files(), 1U);
  const std::string page = content(page_);
  EXPECT_THAT(page, HasSubstr("counter.lost-update <span class=\"badge\">new"));
  EXPECT_THAT(page, HasSubstr("after shrinking"));
  const std::string command = "example replay ";
  const std::size_t begin = page.find(command) + command.size();
  const std::string replay = page.substr(begin, page.find('<', begin) - begin);
  EXPECT_EQ(run(lose_updates, {"replay", replay}).status, 1) << replay;
  EXPECT_THAT(page, HasSubstr("class=\"curve\""));
}

TEST_F(Reports, ShowCrashesOfDifferentPlaces) {
  const auto crash = [](check::World& world) {
    std::signal(SIGTERM, SIG_DFL);
    std::raise(world.choose(2) == 0 ? SIGABRT : SIGTERM);
  };
  std::vector<std::string> words = run_shards(crash, 9);
  words.insert(words.end(), {"--known", folder_ + "/known"});
  EXPECT_THAT(run(crash, words).output, HasSubstr("2 findings, 2 of them new"));
  EXPECT_EQ(replay_files(), 2U);
  EXPECT_THAT(content(page_), HasSubstr("<code>signal 6</code>"));
  EXPECT_THAT(content(page_), HasSubstr("<code>signal 15</code>"));
  EXPECT_THAT(content(folder_ + "/known"), HasSubstr("signal 15"));
}

TEST_F(Reports, IdentifyCrashesByTheirFingerprint) {
  const Outcome reported = run(abort_always, run_shards(abort_always, 3));
  EXPECT_EQ(reported.status, 3) << reported.errors;
  EXPECT_THAT(reported.output, HasSubstr("1 finding, 1 of them new"));
  EXPECT_EQ(replay_files(), 1U);
  EXPECT_THAT(content(page_), HasSubstr("<code>signal 6</code>"));
}

TEST_F(Reports, SayWhichFindingsAreNew) {
  std::vector<std::string> words = run_shards(lose_updates);
  words.insert(words.end(), {"--known", folder_ + "/known"});
  EXPECT_THAT(run(lose_updates, words).output, HasSubstr("1 finding, 1 of them new"));
  EXPECT_THAT(run(lose_updates, words).output, HasSubstr("1 finding, 0 of them new"));
  EXPECT_THAT(content(page_), Not(HasSubstr("class=\"badge\"")));
  for (const char* wrong : {"something else", "{\"format\": 1}"}) {
    std::ofstream(folder_ + "/known") << wrong;
    const Outcome refused = run(lose_updates, words);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.errors, HasSubstr("--known " + folder_ + "/known")) << wrong;
  }
}

// Not only when a part of a campaign has ended, which takes ten seconds.
TEST_F(Reports, NoteWhileTheCampaignRunsWhatItReaches) {
  const auto reach = [](check::World& world) {
    world.sometimes("reached").reached_if(true);
    hold(world);
  };
  const std::string path = folder_ + "/results.json";
  fuzz(reach, {"--schedules", "1000000000", "--seconds", "1", "--results", path});
  const auto results = load_result(path);
  ASSERT_TRUE(results.has_value()) << results.error();
  const FirstReach first = results->first_reached.at("condition reached");
  EXPECT_LT(first.seconds, results->seconds);
  EXPECT_LT(first.schedules, results->schedules);
}

// The page lists what the files have; another build cannot repeat it.
TEST_F(Reports, OfAnotherBuildListFindingsWithTheirSeeds) {
  const std::vector<std::string> words = run_shards(lose_updates);
  for (const std::string shard : {"1", "2", "3"}) {
    const std::string path = folder_ + "/" + shard + ".json";
    auto json = nlohmann::ordered_json::parse(content(path));
    json["version"] = 1;
    json["build"] = "an older build";
    json.erase("first_reached");
    std::ofstream(path) << json;
  }
  const Outcome reported = run(lose_updates, words);
  EXPECT_EQ(reported.status, 1) << reported.errors;
  EXPECT_THAT(reported.errors, HasSubstr("an older build"));
  EXPECT_EQ(replay_files(), 0U);
  const std::string page = content(page_);
  EXPECT_THAT(page, HasSubstr("These findings could not be repeated"));
  EXPECT_THAT(page, HasSubstr("example fuzz --seed "));
  EXPECT_THAT(page, HasSubstr("3 of 3 files do not have these times"));
  EXPECT_THAT(page, Not(HasSubstr("<svg")));
}

TEST_F(Reports, RefuseAPageThatCannotBeWritten) {
  std::vector<std::string> words = run_shards(hold);
  std::ofstream(folder_ + "/file") << "no folder";
  words[2] = folder_ + "/file/page.html";
  const Outcome refused = run(hold, words);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("--output " + words[2]));
}

TEST_F(Reports, ShowWhatWasNeverReached) {
  const Outcome reported = run(reach_nothing, run_shards(reach_nothing));
  EXPECT_EQ(reported.status, 1) << reported.errors;
  EXPECT_THAT(content(page_), HasSubstr("<td>condition never reached</td>"));
}

TEST_F(Reports, OfPassingCampaignsSaySo) {
  const Outcome reported = run(hold, run_shards(hold));
  EXPECT_EQ(reported.status, 0) << reported.errors;
  EXPECT_THAT(content(page_), HasSubstr("all properties held"));
}

// A page cannot be broken by what a program prints.
TEST_F(Reports, EscapeTexts) {
  const auto fail = [](check::World& world) {
    world.run();
    world.check(false, "mark#up", "</pre><script>&amp;");
  };
  EXPECT_EQ(run(fail, run_shards(fail, 3)).status, 1);
  EXPECT_THAT(content(page_), Not(HasSubstr("<script>")));
  EXPECT_THAT(content(page_), HasSubstr("&lt;script&gt;&amp;amp;"));
  EXPECT_THAT(content(page_), HasSubstr("href=\"mark%23up-1.html\""));
}

}  // namespace
}  // namespace falafel::explorer::commands_test
