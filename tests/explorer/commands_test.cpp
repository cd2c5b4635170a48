// The commands of a program that links explorer::main: their exit statuses, what they print and
// what they write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "explorer/campaign_results.h"
#include "explorer/check.h"
#include "explorer/main.h"
#include "processes/child_process.h"

namespace falafel::explorer::commands_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two clients increment a word by READ and WRITE.
void count_without_atomics(check::World& world, bool is_judged) {
  std::shared_ptr<fabric::MemoryBlock> memory;
  world.name(0, fabric::word_bytes, "the counter");
  world.server("server", [&](fabric::Host& host) {
    check::MemoryServer server(host, 64);
    memory = server.memory();
    server.serve();
  });
  world.clients(2, [&](fabric::Host& host, std::uint32_t) {
    check::RemoteMemory counter(host, "server");
    counter.write(0, counter.read(0) + 1);
  });
  world.at_rest(
      [&] { world.check(!is_judged || check::word(memory, 0) == 2, "counter.lost-update"); });
  world.run();
}

void lose_updates(check::World& world) { count_without_atomics(world, true); }
void lose_updates_unjudged(check::World& world) { count_without_atomics(world, false); }

void hold(check::World& world) {
  world.clients(2, [](fabric::Host& host, std::uint32_t) { host.yield(); });
  world.run();
}

// Fails in one of 15,000 schedules on average.
void fail_rarely(check::World& world) {
  const bool fails = world.choose(15'000) == 0;
  world.run();
  world.check(!fails, "rare");
}

void reach_nothing(check::World& world) {
  world.sometimes("never reached");
  hold(world);
}

void abort_always(check::World&) { std::abort(); }

// One of its safeguards is needed, the other is not.
void protect_too_much(check::World& world) {
  const bool is_needed = world.safeguard("needed");
  world.safeguard("superfluous");
  world.client("client", [](fabric::Host&) {});
  world.run();
  world.check(is_needed, "unprotected");
}

struct Outcome {
  int status = 0;
  std::string output;
  std::string errors;
};

Outcome run_main(std::vector<std::string> arguments, std::vector<const Program*> programs) {
  arguments.insert(arguments.begin(), "example");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.status = main(static_cast<int>(pointers.size()), pointers.data(), programs);
  outcome.output = testing::internal::GetCapturedStdout();
  outcome.errors = testing::internal::GetCapturedStderr();
  return outcome;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string without_suffix(const std::string& path) {
  return std::filesystem::path(path).replace_extension().string();
}

class Commands : public testing::Test {
 protected:
  Commands() { std::filesystem::remove_all(folder_); }

  Outcome run(const check::Body& body, std::vector<std::string> arguments) const {
    const auto program = check::program("program", body);
    return run_main(std::move(arguments), {program.get()});
  }
  Outcome fuzz(const check::Body& body, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"fuzz", "--output", folder_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const bool says_how_many = std::ranges::find(more, "--schedules") != more.end();
    if (!says_how_many) arguments.insert(arguments.end(), {"--schedules", "100"});
    return run(body, arguments);
  }
  nlohmann::json fuzz_json(const check::Body& body, std::vector<std::string> more) const {
    more.emplace_back("--json");
    return nlohmann::json::parse(fuzz(body, more).output);
  }
  // The replay file of a lost update.
  std::string find_lost_update() const {
    const auto json = fuzz_json(lose_updates, {"--shrink-seconds", "0"});
    return json["violations"][0]["replay"];
  }

  // Several processes may run these tests at the same time.
  const std::string folder_ = testing::TempDir() + "commands_test_" + std::to_string(getpid());
};

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
  const auto results = load_results(path);
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
