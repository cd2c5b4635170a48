// Environment variables change which schedules a test runs, and in how many processes.
#include "explorer/check/environment.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>

#include "explorer/check.h"

namespace falafel::check::environment_test {
namespace {

using testing::HasSubstr;

void count_clients(World& world) {
  world.clients(static_cast<std::uint32_t>(1 + world.choose(3)),
                [](fabric::Host& host, std::uint32_t) { host.yield(); });
  world.run();
}

Options options_of(std::string name) {
  return {.name = std::move(name),
          .schedules = 100,
          .shrink_seconds = 0,
          .output = testing::TempDir() + "check_environment_test"};
}

Result run(const Body& body, const Options& options, const Environment& environment) {
  return run_campaign(WorldProgram(options.name, options.network, body), options, environment);
}

TEST(Environment, RunsTheSeedsFromOneOn) {
  Options options = options_of("seeds");
  const Result one = run(count_clients, options, {.seed = 41});
  EXPECT_EQ(one.schedules, 1U);
  const Result three = run(count_clients, options, {.seed = 41, .schedules = 3});
  EXPECT_EQ(three.schedules, 3U);
  options.first_seed = 41;
  options.schedules = 3;
  EXPECT_EQ(run(count_clients, options, {}).hash, three.hash);
  EXPECT_NE(one.hash, three.hash);
}

// Each process leaves a file with its number. Its first run waits until all that are expected have
// left theirs, or one process could run all schedules before another begins.
TEST(Environment, RunsInSoManyProcesses) {
  const std::string folder =
      testing::TempDir() + "check_environment_processes_" + std::to_string(getpid());
  const auto count_processes = [&] {
    return std::distance(std::filesystem::directory_iterator(folder), {});
  };
  const auto run_in = [&](std::ptrdiff_t expected, const Options& options,
                          const Environment& environment) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const auto body = [&](World& world) {
      const std::string path = folder + "/" + std::to_string(getpid());
      close(open(path.c_str(), O_CREAT | O_WRONLY, 0600));
      for (int tries = 0; tries < 1'000 && count_processes() < expected; ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      count_clients(world);
    };
    EXPECT_TRUE(run(body, options, environment).holds());
    EXPECT_EQ(count_processes(), expected);
  };
  Options options = options_of("processes");
  options.network.usual_steps = 100;  // so that no process measures it
  run_in(1, options, {});
  run_in(3, options, {.jobs = 3});
  options.jobs = 2;
  run_in(2, options, {});
  run_in(1, options, {.jobs = 1});
}

// A part of a campaign proves nothing about conditions that only some of its runs reach.
TEST(Environment, JudgesConditionsOfWholeCampaignsOnly) {
  const auto never = [](World& world) {
    world.sometimes("never reached");
    count_clients(world);
  };
  const Options options = options_of("conditions");
  EXPECT_FALSE(run(never, options, {}).holds());
  EXPECT_FALSE(run(never, options, {.schedules = 101}).holds());
  EXPECT_TRUE(run(never, options, {.schedules = 99}).holds());
  EXPECT_TRUE(run(never, options, {.seed = 1}).holds());
  EXPECT_TRUE(run(never, options, {.seed = 1, .schedules = 200}).holds());
}

TEST(Environment, NamesAReplayFileThatCannotBeRead) {
  const std::string path = testing::TempDir() + "missing.replay";
  try {
    run(count_clients, options_of("missing"), {.replay = path});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("FALAFEL_REPLAY"));
    EXPECT_THAT(error.what(), HasSubstr(path));
  }
}

TEST(Environment, ReadsNumbersAndRefusesOthers) {
  const auto read = [](std::string_view name, const char* value) {
    return read_environment(
        [=](const char* variable) { return name == variable ? value : nullptr; });
  };
  EXPECT_EQ(read("FALAFEL_SEED", "17").seed, 17U);
  EXPECT_EQ(read("FALAFEL_SCHEDULES", "5").schedules, 5U);
  EXPECT_EQ(read("FALAFEL_JOBS", "2").jobs, 2U);
  EXPECT_EQ(read("FALAFEL_REPLAY", "a file").replay, "a file");
  EXPECT_FALSE(read("FALAFEL_SEED", "").seed.has_value());
  for (const auto& [name, value] :
       {std::pair("FALAFEL_SEED", "1x"), std::pair("FALAFEL_SEED", "-1"),
        std::pair("FALAFEL_SCHEDULES", "0"), std::pair("FALAFEL_JOBS", "many")}) {
    try {
      read(name, value);
      ADD_FAILURE() << name << "=" << value << " was accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string(name) + "=\"" + value + "\""));
    }
  }
}

TEST(Environment, IsReadByRandom) {
  setenv("FALAFEL_SCHEDULES", "3", 1);
  const Result result = random({.output = testing::TempDir()}, count_clients);
  setenv("FALAFEL_SCHEDULES", "three", 1);
  EXPECT_THROW(random({}, count_clients), std::invalid_argument);
  unsetenv("FALAFEL_SCHEDULES");
  EXPECT_EQ(result.schedules, 3U);
  EXPECT_THAT(result.story(), HasSubstr("Environment_IsReadByRandom: 3 schedules"));
}

// All four, as a user sets them.
TEST(Environment, OverridesTheOptionsOfATest) {
  setenv("FALAFEL_SEED", "7", 1);
  setenv("FALAFEL_SCHEDULES", "2", 1);
  setenv("FALAFEL_JOBS", "2", 1);
  const Environment environment = own_environment();
  setenv("FALAFEL_REPLAY", "a file", 1);
  const Environment with_replay = own_environment();
  for (const char* name : {"FALAFEL_SEED", "FALAFEL_SCHEDULES", "FALAFEL_JOBS", "FALAFEL_REPLAY"}) {
    unsetenv(name);
  }
  EXPECT_EQ(environment.seed, 7U);
  EXPECT_EQ(environment.schedules, 2U);
  EXPECT_EQ(environment.jobs, 2U);
  EXPECT_EQ(environment.replay, "");
  EXPECT_EQ(with_replay.replay, "a file");
}

}  // namespace
}  // namespace falafel::check::environment_test
