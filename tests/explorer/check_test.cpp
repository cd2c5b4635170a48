// Test bodies: a lost update is found, shrunk, recorded and replayed; crashes are caught;
// conditions must be reached; runs repeat exactly.
#include "explorer/check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkers/specifications/counter.h"
#include "explorer/failing_run.h"
#include "explorer/shrink.h"
#include "fabric/assert.h"

namespace falafel::check {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t counter = 64;  // its offset

// Two clients increment a counter: by READ and WRITE, or by an atomic.
void increment(World& world, bool is_atomic) {
  std::shared_ptr<fabric::MemoryBlock> memory;
  world.name(counter, fabric::word_bytes, "the counter");
  world.server("server", [&](fabric::Host& host) {
    MemoryServer server(host, 128);
    memory = server.memory();
    server.serve();
  });
  const auto clients = static_cast<std::uint32_t>(2 + world.choose(3));
  world.clients(clients, [&](fabric::Host& host, std::uint32_t) {
    RemoteMemory remote(host, "server");
    if (is_atomic) {
      remote.fetch_and_add(counter, 1);
    } else {
      const std::uint64_t seen = remote.read(counter);
      world.note(host, "has read " + std::to_string(seen));
      remote.write(counter, seen + 1);
    }
  });
  world.at_rest([&] {
    world.check(word(memory, counter) == clients, "counter.lost-update",
                "the counter is " + std::to_string(word(memory, counter)) + " after " +
                    std::to_string(clients) + " increments");
  });
  world.run();
}

void lose_updates(World& world) { increment(world, false); }
void count_by_atomics(World& world) { increment(world, true); }

Options options_of(std::string name) {
  return {.name = std::move(name),
          .schedules = 2'000,
          .shrink_seconds = 3,
          .output = testing::TempDir() + "check_test"};
}

Result run(const Body& body, const Options& options, const Environment& environment = {}) {
  return run_campaign(WorldProgram(options.name, options.network, body), options, environment);
}

TEST(Check, FindsShrinksAndExplainsALostUpdate) {
  const Result result = run(lose_updates, options_of("lost update"));
  ASSERT_FALSE(result.holds());
  const Failure& failure = result.failures.front();
  EXPECT_EQ(failure.property, "counter.lost-update");
  EXPECT_THAT(failure.explanation, HasSubstr("the counter is 1 after 2 increments"));
  EXPECT_GT(failure.steps_before, failure.steps_after);
  EXPECT_TRUE(std::filesystem::exists(failure.replay_path));
  EXPECT_THAT(result.story(), HasSubstr("FALAFEL_REPLAY=" + failure.replay_path));
  EXPECT_TRUE(std::filesystem::exists(failure.page_path));
  EXPECT_THAT(result.story(), HasSubstr("View it:\n  " + failure.page_path));
  EXPECT_THAT(result.story(), HasSubstr("READ returns the counter: 0"));
  EXPECT_THAT(result.story(), HasSubstr("client 1                has read 0"));
  EXPECT_THAT(result.story(), HasSubstr("the violation is inevitable from here on"));
}

// None of the schedules that shrinking has tried for the smallest scenario is shorter.
TEST(Check, ShrinksToTheShortestOfManySchedules) {
  constexpr std::uint64_t tries = 200;
  const std::string property = "counter.lost-update";
  const WorldProgram program("shortest", {}, lose_updates);
  const auto runner = program.create_runner();
  const Result found = run(lose_updates, options_of("shortest"));
  ASSERT_FALSE(found.holds());
  const std::uint64_t seed = found.failures.front().seed;
  const auto scenario = program.draw(seed);
  const explorer::FailingRun small = explorer::shrink(
      *runner,
      explorer::record(*runner, *scenario, *explorer::make_seeded_strategy(*scenario, seed)),
      property, {.seconds = 1e6, .tries = tries}, [](const explorer::FailingRun&) {});
  for (std::uint64_t other = 1; other <= tries; ++other) {
    const explorer::Run run =
        runner->run(*small.scenario, *explorer::make_seeded_strategy(*small.scenario, other));
    if (run.violates(property)) {
      EXPECT_GE(run.result.steps, small.run.result.steps) << "of seed " << other;
    }
  }
}

TEST(Check, ReplaysAFailureFromItsFile) {
  const Options options = options_of("replayed");
  const Result found = run(lose_updates, options);
  ASSERT_FALSE(found.holds());
  const std::string path = found.failures.front().replay_path;
  const Result replayed = run(lose_updates, options, {.replay = path});
  ASSERT_FALSE(replayed.holds());
  EXPECT_EQ(replayed.failures.size(), 1U) << replayed.story();
  EXPECT_EQ(replayed.failures.front().property, "counter.lost-update");
  EXPECT_EQ(replayed.schedules, 1U);
  EXPECT_THAT(replayed.story(), HasSubstr("READ returns the counter: 0"));

  const Result other = run(count_by_atomics, options, {.replay = path});
  ASSERT_FALSE(other.holds());
  EXPECT_EQ(other.failures.front().property, "replay");
}

TEST(Check, RunsNothingIfTheReplayIsOfAnotherTest) {
  const Result found = run(lose_updates, options_of("one test"));
  ASSERT_FALSE(found.holds());
  const Result other = run(count_by_atomics, options_of("another test"),
                           {.replay = found.failures.front().replay_path});
  EXPECT_TRUE(other.holds());
  EXPECT_EQ(other.schedules, 0U);
  EXPECT_THAT(other.story(), HasSubstr("not run"));
}

TEST(Check, HoldsWithAtomics) {
  const Result result = run(count_by_atomics, options_of("atomics"));
  EXPECT_TRUE(result.holds()) << result.story();
  EXPECT_EQ(result.schedules, 2'000U);
}

TEST(Check, IsTheSameTwiceAndWithTwoJobs) {
  Options options = options_of("same");
  options.schedules = 300;
  const Result once = run(count_by_atomics, options);
  const Result twice = run(count_by_atomics, options);
  options.jobs = 2;
  const Result by_two = run(count_by_atomics, options);
  EXPECT_EQ(once.hash, twice.hash);
  EXPECT_EQ(once.hash, by_two.hash);
  EXPECT_EQ(once.steps, by_two.steps);
  const Result failing_by_two = run(lose_updates, options);
  options.jobs = 1;
  EXPECT_EQ(run(lose_updates, options).failures.front().seed, failing_by_two.failures.front().seed);
}

TEST(Check, RunsTheSeedOfTheEnvironment) {
  const Result found = run(lose_updates, options_of("seed"));
  ASSERT_FALSE(found.holds());
  const std::uint64_t seed = found.failures.front().seed;
  const Result alone = run(lose_updates, options_of("seed"), {.seed = seed});
  EXPECT_EQ(alone.schedules, 1U);
  EXPECT_FALSE(alone.holds());
}

// The body aborts the process, which runs in a process of its own.
TEST(Check, CatchesCrashes) {
  const auto body = [](World& world) {
    auto memory = std::make_shared<std::shared_ptr<fabric::MemoryBlock>>();
    world.server("server", [memory](fabric::Host& host) {
      MemoryServer server(host, 128);
      *memory = server.memory();
      server.serve();
    });
    world.clients(3, [](fabric::Host& host, std::uint32_t client) {
      RemoteMemory remote(host, "server");
      remote.write(0, client + 1);
      FALAFEL_ASSERT(remote.read(0) == client + 1, "client {} was overtaken", client);
    });
    world.run();
  };
  const Result result = run(body, options_of("crash"));
  ASSERT_FALSE(result.holds());
  const Failure& failure = result.failures.front();
  EXPECT_EQ(failure.property, "crash");
  EXPECT_THAT(failure.explanation, HasSubstr("was overtaken"));
  EXPECT_TRUE(std::filesystem::exists(failure.replay_path));
  EXPECT_THAT(result.story(), HasSubstr("WRITE places"));
  const Result replayed = run(body, options_of("crash"), {.replay = failure.replay_path});
  ASSERT_EQ(replayed.failures.size(), 1U) << replayed.story();
  EXPECT_EQ(replayed.failures.front().property, "crash");
}

TEST(Check, CatchesExceptions) {
  const Result result =
      run([](World&) { throw std::runtime_error("the body is wrong"); }, options_of("exception"));
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failures.front().property, "crash");
  EXPECT_THAT(result.failures.front().explanation, HasSubstr("the body is wrong"));
}

TEST(Check, RequiresTheBodyToRunItsWorld) {
  const Result result = run([](World&) {}, options_of("no run"));
  ASSERT_FALSE(result.holds());
  EXPECT_THAT(result.failures.front().explanation, HasSubstr("call of World::run"));
}

TEST(Check, FailsIfAConditionIsNeverReached) {
  const auto body = [](World& world, bool reaches_it) {
    Condition& condition = world.sometimes("lost a compare-and-swap");
    world.client("client", [&](fabric::Host&) { condition.reached_if(reaches_it); });
    world.run();
  };
  Options options = options_of("sometimes");
  options.schedules = 50;
  const Result never = run([&](World& world) { body(world, false); }, options);
  ASSERT_FALSE(never.holds());
  EXPECT_EQ(never.failures.front().property, "sometimes");
  EXPECT_THAT(never.story(), HasSubstr("lost a compare-and-swap"));
  const Result always = run([&](World& world) { body(world, true); }, options);
  EXPECT_TRUE(always.holds()) << always.story();
  EXPECT_GE(always.conditions.at("lost a compare-and-swap"), 50U);
}

TEST(Check, JudgesWhatAlwaysHolds) {
  const auto body = [](World& world) {
    std::shared_ptr<fabric::MemoryBlock> memory;
    world.server("server", [&](fabric::Host& host) {
      MemoryServer server(host, 128);
      memory = server.memory();
      server.serve();
    });
    world.clients(1, [&](fabric::Host& host, std::uint32_t) {
      RemoteMemory remote(host, "server");
      remote.write(0, 7);
      remote.write(0, 0);
    });
    world.always("word.small", [&] { return word(memory, 0) < 5; });
    world.run();
  };
  const Result result = run(body, options_of("always"));
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failures.front().property, "word.small");
}

// Each peer serves a word and writes into the word of the next one. None returns while another one
// may still wait for the completion of a WRITE, which needs the connection.
TEST(Check, HasHostsThatAreServerAndClient) {
  constexpr std::uint32_t peers = 3;
  const auto body = [](World& world) {
    std::vector<std::shared_ptr<fabric::MemoryBlock>> memory(peers);
    std::uint32_t written = 0;
    world.peers(peers, [&](fabric::Host& host, std::uint32_t peer) {
      MemoryServer server(host, 64);
      memory[peer] = server.memory();
      host.spawn({.name = "service", .daemon = true}, [&] { server.serve(); });
      RemoteMemory next(host, fmt::format("peer {}", (peer + 1) % peers));
      next.write(0, peer + 1);
      ++written;
      while (written < peers || server.memory()->load(0) == 0) host.yield();
    });
    world.at_rest([&] {
      for (std::uint32_t peer = 0; peer < peers; ++peer) {
        world.check(word(memory[(peer + 1) % peers], 0) == peer + 1, "peers.written");
      }
    });
    world.run();
  };
  const Result result = run(body, options_of("peers"));
  EXPECT_TRUE(result.holds()) << result.story();
}

// A client whose connection breaks gives up, and the run goes on.
TEST(Check, SurvivesAllFaults) {
  const auto body = [](World& world) {
    world.server("server", [&](fabric::Host& host) { MemoryServer(host, 128).serve(); });
    world.clients(3, [&](fabric::Host& host, std::uint32_t) {
      RemoteMemory remote(host, "server");
      for (int times = 0; times < 5; ++times) remote.fetch_and_add(0, 1);
    });
    world.run();
  };
  Options options = options_of("faults");
  options.network.faults = all_faults();
  std::erase(options.network.faults, sim::FaultKind::registration_failure);
  const Result result = run(body, options);
  EXPECT_TRUE(result.holds()) << result.story();
}

// The failure with the lowest seed comes first, whatever its name.
TEST(Check, PutsTheLowestSeedFirst) {
  const auto body = [runs = 0](World& world) mutable {  // a worker process begins with seed 1
    world.client("client", [](fabric::Host&) {});
    world.run();
    world.fail(runs++ == 0 ? "z.first" : "a.later", "on purpose");
  };
  Options options = options_of("lowest");
  options.schedules = 20;
  const Result result = run(body, options);
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failures.front().property, "z.first");
}

// A property that several checks at rest find violated counts once, with the first explanation.
TEST(Check, KeepsTheFirstViolationOfAProperty) {
  const auto body = [](World& world) {
    world.at_rest([&] {
      world.fail("broken", "first");
      world.fail("broken", "second");
    });
    world.run();
  };
  Options options = options_of("first of two");
  options.schedules = 1;
  const Result result = run(body, options);
  ASSERT_EQ(result.failures.size(), 1U) << result.story();
  EXPECT_THAT(result.failures.front().explanation, HasSubstr("first"));
  EXPECT_EQ(result.failures.front().schedules, 1U);
}

// A checker that reaches a limit leaves a run without a verdict.
TEST(Check, CountsTheSchedulesWithoutAVerdict) {
  const auto body = [](World& world) {
    const bool is_too_long = world.choose(2) == 0;
    world.at_end([is_too_long](explorer::Run& run) {
      if (is_too_long) run.unknown.push_back({.property = "history", .explanation = "too long"});
    });
    world.run();
  };
  Options options = options_of("without a verdict");
  options.schedules = 100;
  const Result result = run(body, options);
  EXPECT_GT(result.unknown, 0U);
  EXPECT_LT(result.unknown, 100U);
  EXPECT_THAT(result.story(), HasSubstr(std::to_string(result.unknown) + " not judged"));
  EXPECT_THAT(result.story(),
              HasSubstr("not judged: history in " + std::to_string(result.unknown) + " schedules"));
  EXPECT_THAT(result.story(), HasSubstr("too long"));
  ASSERT_EQ(result.failures.size(), 1U) << result.story();
  EXPECT_EQ(result.failures.front().property, "unjudged");

  options.permitted_unjudged_share = 0.9;
  EXPECT_TRUE(run(body, options).holds());
  options.permitted_unjudged_share = 0.01;
  EXPECT_FALSE(run(body, options).holds());
}

// An operation without an answer agrees with everything.
TEST(Check, FailsIfNoRunJudgesAnOperationOfAHistory) {
  for (const bool answers : {false, true}) {
    const auto body = [answers](World& world) {
      using Counter = checkers::specifications::Counter;
      auto& history = world.history<Counter>();
      std::uint64_t count = 0;
      world.clients(2, [&](fabric::Host& host, std::uint32_t client) {
        host.yield();
        history.call(client, Counter::FetchAdd{}, [&]() -> std::optional<std::uint64_t> {
          if (!answers) return std::nullopt;
          return count++;
        });
      });
      world.run();
    };
    Options options = options_of("unanswered");
    options.schedules = 50;
    const Result result = run(body, options);
    EXPECT_EQ(result.holds(), answers) << result.story();
    if (answers) continue;
    EXPECT_EQ(result.failures.front().property, "sometimes");
    EXPECT_THAT(result.story(), HasSubstr("linearizability judges an answer"));
  }
}

// The runs of one seed differ, so that there is no failing run to record.
TEST(Check, NamesTheSeedOfARunThatItCannotRecord) {
  constexpr std::uint64_t repeated_seed = 1'001;
  const auto body = [runs = 0](World& world) mutable {
    world.clients(runs++ % 2 == 0 ? 1 : 2, [](fabric::Host& host, std::uint32_t) { host.yield(); });
    world.run();
  };
  Options options = options_of("not recorded");
  options.schedules = 1;
  options.first_seed = repeated_seed;
  const Result result = run(body, options);
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.failures.front().replay_path, "");
  EXPECT_THAT(result.story(), HasSubstr("No run was recorded"));
  EXPECT_THAT(result.story(), HasSubstr("Repeat it with:\n  FALAFEL_SEED=1001 "));
}

TEST(Check, EndsWhenItsTimeIsOver) {
  Options options = options_of("time");
  options.schedules = 1'000'000'000'000;
  options.seconds = 0.1;
  const Result result = run(count_by_atomics, options);
  EXPECT_TRUE(result.holds()) << result.story();
  EXPECT_GT(result.schedules, 0U);
}

TEST(Check, RefusesAnOutputFolderThatCannotBeWritten) {
  Options options = options_of("output");
  options.output = "/dev/null/folder";
  EXPECT_THROW(run(count_by_atomics, options), std::invalid_argument);
}

}  // namespace
}  // namespace falafel::check
