// The explorer works on any program: here, fibers that increment a counter without an atomic. It
// finds the lost update, shrinks it to two fibers with one increment each, and replays it from a
// file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "explorer/campaign.h"
#include "explorer/critical_step.h"
#include "explorer/failing_run.h"
#include "explorer/program.h"
#include "explorer/replay.h"
#include "explorer/shrink.h"
#include "explorer/story.h"
#include "explorer/timeline/record.h"
#include "fabric/fabric.h"
#include "fabric/sim/strategies/replay_strategy.h"

namespace falafel::explorer {
namespace {

constexpr std::string_view lost_update = "counter.lost-update";

struct CounterScenario final : Scenario {
  std::uint64_t fibers = 4;
  std::uint64_t increments = 3;  // of each fiber
  bool yields = true;            // between the load and the store

  std::unique_ptr<Scenario> clone() const override {
    return std::make_unique<CounterScenario>(*this);
  }
  nlohmann::json to_json() const override {
    return {{"fibers", fibers}, {"increments", increments}, {"yields", yields}};
  }
  std::string describe() const override { return to_json().dump() + "\n"; }
  std::string size() const override { return std::to_string(fibers) + " fibers"; }
  bool simplify(Simplifier& simplifier) const override {
    const auto fewer = [&](std::uint64_t CounterScenario::*count) {
      CounterScenario candidate = dynamic_cast<const CounterScenario&>(simplifier.best());
      if (candidate.*count == 1) return false;
      --(candidate.*count);
      return simplifier.attempt(candidate);
    };
    const bool fewer_fibers = fewer(&CounterScenario::fibers);
    const bool fewer_increments = fewer(&CounterScenario::increments);
    return fewer_fibers || fewer_increments;
  }
};

class CounterRunner final : public Runner {
 public:
  Run run(const Scenario& scenario, sim::Strategy& strategy) override {
    return run(scenario, strategy, nullptr);
  }
  Run run_observed(const Scenario& scenario, sim::Strategy& strategy,
                   RunListener& listener) override {
    return run(scenario, strategy, &listener);
  }
  const Vocabulary& vocabulary(const Scenario&) override { return vocabulary_; }

 private:
  Run run(const Scenario& explored, sim::Strategy& strategy, RunListener* listener) {
    const auto& scenario = dynamic_cast<const CounterScenario&>(explored);
    std::shared_ptr<fabric::MemoryBlock> counter;
    sim::Simulation simulation(scenario.simulation, strategy, stacks_, listener);
    simulation.add_host({.name = "counter"}, [&](fabric::Host& host) {
      counter = host.allocate_memory(fabric::word_bytes).value();
      for (std::uint64_t fiber = 0; fiber < scenario.fibers; ++fiber) {
        host.spawn({.name = "fiber"}, [&] { increment(host, *counter, scenario); });
      }
    });
    Run run;
    run.result = simulation.run();
    std::uint64_t total = 0;
    if (counter != nullptr) std::memcpy(&total, counter->bytes().data(), sizeof total);
    if (total != scenario.fibers * scenario.increments) {
      run.violations.push_back({.verdict = checkers::Verdict::violated,
                                .property = std::string(lost_update),
                                .explanation = "the counter is " + std::to_string(total)});
    }
    return run;
  }

  static void increment(fabric::Host& host, fabric::MemoryBlock& counter,
                        const CounterScenario& scenario) {
    for (std::uint64_t count = 0; count < scenario.increments; ++count) {
      const std::uint64_t seen = counter.load(0);
      if (scenario.yields) host.yield();
      counter.store(0, seen + 1);
    }
  }

  fabric::FiberStackPool stacks_;
  PlainVocabulary vocabulary_;
};

class CounterProgram final : public Program {
 public:
  explicit CounterProgram(bool yields = true) : yields_(yields) {}

  std::string_view name() const override { return "counter"; }
  std::unique_ptr<Scenario> draw(std::uint64_t seed) const override {
    auto scenario = std::make_unique<CounterScenario>();
    scenario->fibers = 2 + seed % 3;
    scenario->yields = yields_;
    return scenario;
  }
  tl::expected<std::unique_ptr<Scenario>, std::string> parse(
      const nlohmann::json& json) const override {
    auto scenario = std::make_unique<CounterScenario>();
    if (!json.contains("fibers")) return tl::unexpected(std::string("\"fibers\" is missing"));
    scenario->fibers = json["fibers"];
    scenario->increments = json["increments"];
    scenario->yields = json["yields"];
    return scenario;
  }
  std::unique_ptr<Runner> create_runner() const override {
    return std::make_unique<CounterRunner>();
  }
  std::span<const fabric::Probe> probes() const override { return {}; }

 private:
  bool yields_;
};

CampaignResult run_campaign_of(const Program& program, unsigned jobs) {
  return run_campaign(program, {.schedules = 300, .jobs = jobs});
}

FailingRun find_lost_update(Runner& runner) {
  const CounterProgram program;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    const auto scenario = program.draw(seed);
    FailingRun run = record(runner, *scenario, *make_seeded_strategy(*scenario, seed));
    if (run.run.violates(lost_update)) return run;
  }
  throw std::runtime_error("no schedule loses an update");
}

TEST(AnyProgram, FailsInACampaignIfItHasAFlaw) {
  const CampaignResult result = run_campaign_of(CounterProgram(), 2);
  EXPECT_EQ(result.schedules, 300U);
  EXPECT_GT(result.violations.at(std::string(lost_update)), 0U);
}

TEST(AnyProgram, HoldsInACampaignIfItHasNone) {
  const CampaignResult result = run_campaign_of(CounterProgram(false), 2);
  EXPECT_TRUE(result.holds());
  EXPECT_EQ(result.hash, run_campaign_of(CounterProgram(false), 1).hash);
}

TEST(AnyProgram, ShrinksToItsSmallestFailure) {
  CounterRunner runner;
  const FailingRun small = shrink(runner, find_lost_update(runner), std::string(lost_update),
                                  {.seconds = 1e6, .tries = 50}, [](const FailingRun&) {});
  const auto& scenario = dynamic_cast<const CounterScenario&>(*small.scenario);
  EXPECT_EQ(scenario.fibers, 2U);
  EXPECT_EQ(scenario.increments, 1U);
  EXPECT_LT(find_critical_choice(runner, small, 10), small.choices.size());
}

TEST(AnyProgram, ReplaysFromAFile) {
  const std::string path = testing::TempDir() + "any_program.replay";
  CounterRunner runner;
  const FailingRun failing = find_lost_update(runner);
  ASSERT_TRUE(sim::save_replay_file(to_replay_file(CounterProgram(), failing), path).has_value());
  const auto loaded = load_replay(CounterProgram(), path);
  std::filesystem::remove(path);
  ASSERT_TRUE(loaded.has_value()) << loaded.error();
  EXPECT_EQ(loaded->property, lost_update);
  sim::ReplayStrategy strategy(loaded->file.choices);
  const explorer::Run run = runner.run(*loaded->scenario, strategy);
  EXPECT_TRUE(loaded->matches(run));
  EXPECT_TRUE(run.violates(lost_update));
}

// A run takes the same course with and without a listener.
TEST(AnyProgram, TellsItsStory) {
  CounterRunner runner;
  const FailingRun failing = find_lost_update(runner);
  Story story(runner.vocabulary(*failing.scenario));
  sim::ReplayStrategy strategy(failing.choices);
  const explorer::Run run = runner.run_observed(*failing.scenario, strategy, story);
  EXPECT_EQ(run.result.trace_hash, failing.run.result.trace_hash);
  const bool tells_of_stores = std::ranges::any_of(story.lines(), [](const StoryLine& line) {
    return line.who == "counter (fiber)" && line.text == "the processor stores 1 in byte 0";
  });
  EXPECT_TRUE(tells_of_stores);
}

// Its fibers share memory of one host, and no request accesses it.
TEST(AnyProgram, HasATimeline) {
  CounterRunner runner;
  const FailingRun failing = find_lost_update(runner);
  const timeline::Timeline timeline =
      timeline::record_timeline(runner, *failing.scenario, failing.choices).timeline;
  EXPECT_EQ(timeline.title, lost_update);
  const auto has = [&](timeline::EffectKind kind, std::string_view text) {
    return std::ranges::any_of(timeline.effects, [&](const timeline::Effect& effect) {
      return effect.kind == kind && effect.text == text;
    });
  };
  EXPECT_TRUE(has(timeline::EffectKind::read, "the processor loads 0 from byte 0"));
  EXPECT_TRUE(has(timeline::EffectKind::stored, "the processor stores 1 in byte 0"));
  ASSERT_EQ(timeline.words.size(), 1U);
  EXPECT_EQ(timeline.word_changes.front().text, "0");
  EXPECT_GE(timeline.fibers.size(), 2U);
}

class OtherProgram final : public Program {
 public:
  std::string_view name() const override { return "another"; }
  std::unique_ptr<Scenario> draw(std::uint64_t seed) const override {
    return CounterProgram().draw(seed);
  }
  tl::expected<std::unique_ptr<Scenario>, std::string> parse(
      const nlohmann::json& json) const override {
    return CounterProgram().parse(json);
  }
  std::unique_ptr<Runner> create_runner() const override {
    return CounterProgram().create_runner();
  }
  std::span<const fabric::Probe> probes() const override { return {}; }
};

TEST(AnyProgram, RefusesTheReplayFileOfAnotherProgram) {
  const std::string path = testing::TempDir() + "another_program.replay";
  CounterRunner runner;
  const FailingRun failing = find_lost_update(runner);
  ASSERT_TRUE(sim::save_replay_file(to_replay_file(CounterProgram(), failing), path).has_value());
  const auto loaded = load_replay(OtherProgram(), path);
  std::filesystem::remove(path);
  ASSERT_FALSE(loaded.has_value());
  EXPECT_THAT(loaded.error(), testing::HasSubstr("\"counter\""));
}

}  // namespace
}  // namespace falafel::explorer
