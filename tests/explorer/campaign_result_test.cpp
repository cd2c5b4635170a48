// Results of campaigns: parts add up to the whole, files hold them, and what does not add up is
// refused.
#include "explorer/campaign_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "explorer/campaign.h"
#include "explorer/check.h"

namespace falafel::explorer {
namespace {

using testing::HasSubstr;

// Fails with some seeds, with two properties.
void fail_sometimes(check::World& world) {
  check::Condition& condition = world.sometimes("has chosen 1");
  const std::uint64_t chosen = world.choose(50);
  world.clients(2, [](fabric::Host& host, std::uint32_t) { host.yield(); });
  world.run();
  condition.reached_if(chosen == 1);
  world.check(chosen != 2, "not-two");
  world.check(chosen != 3, "not-three");
}

class Results : public testing::Test {
 protected:
  CampaignResult run(const CampaignOptions& options) const {
    const auto program = check::program("program", fail_sometimes);
    CampaignResult result = run_campaign(*program, options);
    result.conditions = program->conditions();
    return result;
  }

  const std::string path_ =
      testing::TempDir() + "campaign_result_test_" + std::to_string(getpid()) + ".json";
};

void expect_equal(const CampaignResult& one, const CampaignResult& other) {
  EXPECT_EQ(one.identity, other.identity);
  EXPECT_EQ(one.schedules, other.schedules);
  EXPECT_EQ(one.steps, other.steps);
  EXPECT_EQ(one.hash, other.hash);
  EXPECT_EQ(one.unknown, other.unknown);
  EXPECT_EQ(one.probes, other.probes);
  EXPECT_EQ(one.simulator_probes, other.simulator_probes);
  EXPECT_EQ(one.faults, other.faults);
  EXPECT_EQ(one.conditions, other.conditions);
  EXPECT_EQ(one.violations, other.violations);
  ASSERT_EQ(one.findings.size(), other.findings.size());
  for (const auto& [property, finding] : one.findings) {
    EXPECT_EQ(finding.seed, other.findings.at(property).seed) << property;
    EXPECT_EQ(finding.explanation, other.findings.at(property).explanation) << property;
  }
}

TEST_F(Results, OfFourShardsAreThoseOfTheWhole) {
  const CampaignResult whole = run({.schedules = 400});
  ASSERT_EQ(whole.violations.size(), 2U);
  CampaignResult sum;
  for (std::uint64_t shard = 4; shard >= 1; --shard) {
    const auto added =
        add(sum, run({.first_seed = shard, .stride = 4, .schedules = 100, .jobs = 2}));
    ASSERT_TRUE(added.has_value()) << added.error();
  }
  expect_equal(sum, whole);
  EXPECT_EQ(sum.seeds.size(), 4U);
}

TEST_F(Results, OfPartsInARowAreOneRange) {
  CampaignResult sum = run({.first_seed = 7, .stride = 3, .schedules = 10});
  ASSERT_TRUE(add(sum, run({.first_seed = 37, .stride = 3, .schedules = 5})).has_value());
  EXPECT_EQ(sum.seeds, (std::vector<SeedRange>{{.first = 7, .stride = 3, .count = 15}}));
}

TEST_F(Results, DoNotCountASeedTwice) {
  const auto shard = [&](std::uint64_t first, std::uint64_t stride, std::uint64_t schedules) {
    return run({.first_seed = first, .stride = stride, .schedules = schedules});
  };
  CampaignResult sum = shard(1, 4, 5);  // 1, 5, 9, 13, 17
  const std::uint64_t hash = sum.hash;
  for (const CampaignResult& part :
       {shard(1, 4, 5), shard(17, 1, 1), shard(3, 7, 3), shard(2, 15, 2)}) {
    const auto added = add(sum, part);
    ASSERT_FALSE(added.has_value());
    EXPECT_THAT(added.error(), testing::MatchesRegex("both have run the seed (1|17)"));
  }
  EXPECT_EQ(sum.hash, hash);
  for (const CampaignResult& part :
       {shard(2, 4, 5), shard(21, 4, 3), shard(18, 1, 1), shard(3, 7, 2), shard(4, 15, 4)}) {
    CampaignResult other = sum;
    EXPECT_TRUE(add(other, part).has_value());
  }
}

TEST_F(Results, OfDifferentCampaignsDoNotAddUp) {
  const CampaignResult results = run({.schedules = 10});
  CampaignResult part = run({.first_seed = 11, .schedules = 10});
  const auto error_with = [&](const CampaignIdentity& identity) {
    CampaignResult sum = results;
    part.identity = identity;
    const auto added = add(sum, part);
    return added ? "" : added.error();
  };
  CampaignIdentity identity = results.identity;
  EXPECT_EQ(error_with(identity), "");
  identity.options["--clients"] = {"3"};
  EXPECT_THAT(error_with(identity), HasSubstr("--clients 3"));
  identity = results.identity;
  identity.build = "another";
  EXPECT_THAT(error_with(identity), HasSubstr("another"));
  identity = results.identity;
  identity.program = "another";
  EXPECT_THAT(error_with(identity), HasSubstr("of the program program, the other of another"));
}

TEST_F(Results, AreTheSameInAFile) {
  CampaignResult results = run({.first_seed = 3, .stride = 2, .schedules = 200});
  results.identity.options["--clients"] = {"2", "3"};
  ASSERT_TRUE(save_result(results, path_).has_value());
  const auto loaded = load_result(path_);
  ASSERT_TRUE(loaded.has_value()) << loaded.error();
  expect_equal(*loaded, results);
  EXPECT_EQ(loaded->seeds, results.seeds);
}

TEST_F(Results, KeepWhenSomethingWasFirstReached) {
  CampaignResult first = run({.schedules = 200});
  first.seconds = 2;
  note_first_reached(first);
  const std::string name = "condition has chosen 1";
  ASSERT_TRUE(first.first_reached.contains(name));
  first.seconds = 5;
  note_first_reached(first);
  EXPECT_EQ(first.first_reached.at(name).seconds, 2);
  EXPECT_EQ(first.first_reached.at(name).schedules, 200U);
  EXPECT_EQ(first.first_reached.size(), names_reached(first).size());
  ASSERT_TRUE(save_result(first, path_).has_value());
  EXPECT_EQ(load_result(path_)->first_reached.at(name).seconds, 2);

  CampaignResult second = run({.first_seed = 201, .schedules = 200});
  second.seconds = 1;
  note_first_reached(second);
  ASSERT_TRUE(add(second, first).has_value());
  EXPECT_EQ(second.first_reached.at(name).seconds, 1) << "the earliest of the parts counts";
}

TEST_F(Results, OfTheFirstVersionCanBeRead) {
  CampaignResult results = run({.schedules = 50});
  note_first_reached(results);
  ASSERT_TRUE(save_result(results, path_).has_value());
  std::ifstream file(path_);
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(file);
  json["version"] = 1;
  json.erase("first_reached");
  std::ofstream(path_) << json;
  const auto loaded = load_result(path_);
  ASSERT_TRUE(loaded.has_value()) << loaded.error();
  EXPECT_TRUE(loaded->first_reached.empty());
  expect_equal(*loaded, results);
  json["version"] = 2;
  std::ofstream(path_) << json;
  EXPECT_FALSE(load_result(path_).has_value()) << "version 2 has the times";
}

TEST_F(Results, AreRefusedIfTheFileHoldsSomethingElse) {
  ASSERT_TRUE(save_result(run({.schedules = 5}), path_).has_value());
  std::ifstream file(path_);
  const std::string good(std::istreambuf_iterator<char>(file), {});
  const auto error_of = [&](const std::string& text) {
    std::ofstream(path_) << text;
    const auto loaded = load_result(path_);
    return loaded ? "" : loaded.error();
  };
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  EXPECT_EQ(error_of(good), "");
  for (const std::string& bad :
       {std::string(), std::string("[]"), good.substr(0, good.size() / 2),
        changed("\"format\"", "\"form\""), std::string("{\"format\": 1}"),
        changed("\"version\": 2", "\"version\": 3"), changed("\"stride\": 1", "\"stride\": 0"),
        changed("\"count\": 5", "\"count\": -5"), changed("\"hash\": \"", "\"hash\": \"x"),
        changed("\"steps\"", "\"stairs\"")}) {
    EXPECT_THAT(error_of(bad), HasSubstr(path_)) << bad;
  }
  std::filesystem::remove(path_);
  EXPECT_THAT(load_result(path_).error(), HasSubstr(path_));
  EXPECT_FALSE(save_result({}, "/dev/null/results.json").has_value());
}

}  // namespace
}  // namespace falafel::explorer
