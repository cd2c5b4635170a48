// Shrinking: the result violates the same property, is smaller, and replays to the same trace hash.
#include "explorer/shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <stdexcept>

#include "explorer/campaign.h"
#include "explorer/crash_recorder.h"
#include "explorer/critical_step.h"
#include "explorer/replay.h"
#include "fabric/sim/strategies/replay_strategy.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/run.h"
#include "tools/scenarios/store/story.h"

namespace falafel::store_scenario {
namespace {

// Few tries per simplification but unlimited time, so that the result is the same on every machine.
constexpr explorer::ShrinkOptions shrink_options{.seconds = 1e6, .tries = 20};

explorer::FailingRun find_failing_run(Runner& runner, const ScenarioChoices& choices) {
  for (std::uint64_t seed = 1; seed < 10'000; ++seed) {
    const Scenario scenario = draw_scenario(choices, seed);
    explorer::FailingRun run =
        explorer::record(runner, scenario, *explorer::make_seeded_strategy(scenario, seed));
    if (!run.run.violations.empty()) return run;
  }
  ADD_FAILURE() << "no failing schedule";
  return {};
}

ScenarioChoices without_collector_retry() {
  ScenarioChoices choices;
  choices.safeguards.collector_retry = false;
  return choices;
}

TEST(Shrink, KeepsThePropertyAndReplays) {
  Runner runner;
  explorer::FailingRun failing = find_failing_run(runner, without_collector_retry());
  const std::string property = failing.run.property();
  const std::uint64_t steps_before = failing.run.result.steps;
  const std::uint64_t operations_before = store_scenario(*failing.scenario).operation_count();
  const explorer::FailingRun small = explorer::shrink(
      runner, std::move(failing), property, shrink_options, [](const explorer::FailingRun&) {});
  EXPECT_EQ(small.run.property(), property);
  EXPECT_LT(small.run.result.steps, steps_before);
  EXPECT_LT(store_scenario(*small.scenario).operation_count(), operations_before);
  sim::ReplayStrategy strategy(small.choices);
  const explorer::Run again = runner.run(*small.scenario, strategy);
  EXPECT_EQ(again.result.trace_hash, small.run.result.trace_hash);
  EXPECT_TRUE(again.violates(property));
}

// The actions of a hostile client have nothing to do with this violation.
TEST(Shrink, TakesAttacksAway) {
  Runner runner;
  ScenarioChoices choices = without_collector_retry();
  choices.hostile = Share::only;
  choices.tag_worlds = Share::none;
  explorer::FailingRun failing = find_failing_run(runner, choices);
  ASSERT_FALSE(store_scenario(*failing.scenario).attacks.empty());
  const std::string property = failing.run.property();
  const explorer::FailingRun small = explorer::shrink(
      runner, std::move(failing), property, shrink_options, [](const explorer::FailingRun&) {});
  EXPECT_TRUE(store_scenario(*small.scenario).attacks.empty());
}

// The caller is notified whenever the run becomes smaller.
TEST(Shrink, EndsWhenTheRunGetsNoSmaller) {
  Runner runner;
  explorer::FailingRun failing = find_failing_run(runner, without_collector_retry());
  const std::string property = failing.run.property();
  std::uint64_t times_smaller = 0;
  const auto count = [&](const explorer::FailingRun&) {
    constexpr std::uint64_t many_times = 2'000;
    if (++times_smaller > many_times) throw std::runtime_error("shrinking never ends");
  };
  explorer::shrink(runner, std::move(failing), property, shrink_options, count);
  EXPECT_GT(times_smaller, 0U);
}

TEST(Run, EndsWhereTooManyVerbsBroughtNothingToItsEnd) {
  ScenarioChoices choices;
  choices.safeguards.bounded_walks = false;
  Runner runner;
  const explorer::FailingRun failing = find_failing_run(runner, choices);
  const checkers::Judgement& violation = failing.run.violations.front();
  ASSERT_EQ(violation.property, "progress.verbs");
  EXPECT_EQ(failing.run.result.outcome, sim::Outcome::stopped);
  EXPECT_EQ(failing.run.result.steps, violation.step);
}

TEST(ReplayFile, HoldsTheRun) {
  Runner runner;
  const explorer::FailingRun failing = find_failing_run(runner, without_collector_retry());
  const std::string path = testing::TempDir() + "holds_the_run.replay";
  ASSERT_TRUE(
      sim::save_replay_file(explorer::to_replay_file(StoreProgram(), failing), path).has_value());
  const auto loaded = explorer::load_replay(StoreProgram(), path);
  ASSERT_TRUE(loaded.has_value()) << loaded.error();
  EXPECT_EQ(loaded->property, failing.run.property());
  sim::ReplayStrategy strategy(loaded->file.choices);
  EXPECT_EQ(runner.run(*loaded->scenario, strategy).result.trace_hash, loaded->file.trace_hash);
  std::filesystem::remove(path);
}

constexpr double patience_seconds = 30;

std::optional<explorer::RecordedCrash> record_seeded(const Scenario& scenario) {
  return explorer::record_crash(StoreProgram(), scenario,
                                *explorer::make_seeded_strategy(scenario, 1), patience_seconds);
}

// A server on a device without atomics fails to start, which ends the process.
Scenario crashing_scenario() {
  Scenario scenario = draw_scenario({}, 1);
  scenario.simulation.atomic_capability = fabric::AtomicCapability::none;
  return scenario;
}

TEST(CrashRecorder, KeepsTheChoicesUpToACrash) {
  EXPECT_FALSE(record_seeded(draw_scenario({}, 1)).has_value());
  const auto crash = record_seeded(crashing_scenario());
  ASSERT_TRUE(crash.has_value());
  EXPECT_EQ(crash->property, explorer::crash_property);
  EXPECT_FALSE(crash->choices.empty());
  EXPECT_THAT(crash->fingerprint,
              testing::MatchesRegex("tools/scenarios/store/store_world_server.cpp:[0-9]+"));
  EXPECT_THAT(crash->explanation, testing::HasSubstr("the server failed to start"));
}

// The run has more operations than can complete in that time.
Scenario endless_scenario() {
  Scenario scenario = draw_scenario({}, 1);
  scenario.simulation.step_limit = 1'000'000'000'000;
  scenario.simulation.fault_rates = {};  // no fault ends a client early
  scenario.clients.front().operations.resize(5'000'000);
  return scenario;
}

TEST(CrashRecorder, HasPatienceForSoLong) {
  const Scenario scenario = endless_scenario();
  const auto hang = explorer::record_crash(StoreProgram(), scenario,
                                           *explorer::make_seeded_strategy(scenario, 1), 0.5);
  ASSERT_TRUE(hang.has_value());
  EXPECT_EQ(hang->property, explorer::hang_property) << hang->explanation;
}

// The recorded run takes the course of the run itself, also with a strategy that sees the steps.
TEST(CrashRecorder, RecordsTheRunOfAnyStrategy) {
  Scenario scenario = endless_scenario();
  for (const sim::StrategyKind kind : {sim::StrategyKind::random, sim::StrategyKind::pos}) {
    scenario.simulation.strategy = kind;
    const auto hang = explorer::record_crash(StoreProgram(), scenario,
                                             *explorer::make_seeded_strategy(scenario, 1), 1);
    Scenario shorter = scenario;
    shorter.simulation.step_limit = 1'000;
    Runner runner;
    const auto choices =
        explorer::record(runner, shorter, *explorer::make_seeded_strategy(shorter, 1)).choices;
    ASSERT_TRUE(hang.has_value());
    ASSERT_GT(hang->choices.size(), choices.size());
    EXPECT_TRUE(std::ranges::equal(choices, std::span(hang->choices).first(choices.size())))
        << to_string(kind);
  }
}

TEST(Shrink, MakesCrashesSmaller) {
  const Scenario scenario = crashing_scenario();
  const auto small =
      explorer::shrink_crash(StoreProgram(), scenario, *explorer::make_seeded_strategy(scenario, 1),
                             shrink_options, [](const explorer::FailingRun&) {});
  ASSERT_TRUE(small.has_value());
  EXPECT_EQ(small->run.property(), explorer::crash_property);
  EXPECT_EQ(store_scenario(*small->scenario).operation_count(), 0U);
  EXPECT_EQ(store_scenario(*small->scenario).clients.size(), 1U);
  sim::ReplayStrategy strategy(small->choices);
  EXPECT_TRUE(explorer::record_crash(StoreProgram(), *small->scenario, strategy, patience_seconds)
                  .has_value());
}

TEST(Shrink, LeavesARunThatDoesNotCrash) {
  const Scenario scenario = draw_scenario({}, 1);
  EXPECT_FALSE(explorer::shrink_crash(StoreProgram(), scenario,
                                      *explorer::make_seeded_strategy(scenario, 1), {},
                                      [](const explorer::FailingRun&) {})
                   .has_value());
}

TEST(CriticalChoice, IsWhereTheViolationBecomesCertain) {
  Runner runner;
  explorer::FailingRun failing = find_failing_run(runner, without_collector_retry());
  const std::size_t critical = explorer::find_critical_choice(runner, failing, 10);
  EXPECT_LT(critical, failing.choices.size());
}

TEST(Story, TellsOfCallsAndSwaps) {
  Runner runner;
  const explorer::FailingRun failing = find_failing_run(runner, without_collector_retry());
  StoreStory story(store_scenario(*failing.scenario));
  sim::ReplayStrategy strategy(failing.choices);
  runner.run(*failing.scenario, strategy, &story);
  const auto tells = [&](std::string_view text) {
    return std::any_of(
        story.lines().begin(), story.lines().end(),
        [&](const explorer::StoryLine& line) { return line.text.find(text) != std::string::npos; });
  };
  EXPECT_TRUE(tells("calls set"));
  EXPECT_TRUE(tells("returns: stored"));
  EXPECT_TRUE(tells("CAS of slot"));
  EXPECT_TRUE(tells("WRITE places"));
}

}  // namespace
}  // namespace falafel::store_scenario
