// Timelines of a program that is not the store: its hosts, verbs, words, operations and notes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include "explorer/failing_run.h"
#include "explorer/timeline/chrome_trace.h"
#include "explorer/timeline/page.h"
#include "explorer/timeline/record.h"
#include "explorer/timeline/timeline_json.h"
#include "tests/timeline/counter_world.h"

namespace falafel::timeline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

// The timeline of the first seed whose run is, or is not, linearizable.
RecordedTimeline record_counter(bool violates) {
  const auto program = counter_program();
  const auto runner = program->create_runner();
  for (std::uint64_t seed = 1; seed < 2'000; ++seed) {
    const auto scenario = program->draw(seed);
    const explorer::FailingRun run =
        explorer::record(*runner, *scenario, *explorer::make_seeded_strategy(*scenario, seed));
    if (run.run.violations.empty() == violates) continue;
    RecordedTimeline recorded =
        record_timeline(*runner, *scenario, run.choices, {.critical_tries = 10});
    EXPECT_EQ(recorded.run.result.trace_hash, run.run.result.trace_hash);
    return recorded;
  }
  throw std::runtime_error("no such run");
}

const Timeline& lost_update() {
  static const Timeline timeline = record_counter(true).timeline;
  return timeline;
}

std::uint32_t lane_named(const Timeline& timeline, std::string_view name) {
  const auto found = std::ranges::find(timeline.lanes, name, &Lane::name);
  return static_cast<std::uint32_t>(found - timeline.lanes.begin());
}

TEST(AnyTimeline, HasALaneForEachHostAndOneForMemory) {
  EXPECT_THAT(lost_update().lanes,
              ElementsAre(Field(&Lane::name, "server"), Field(&Lane::name, "client 0"),
                          Field(&Lane::name, "client 1"), Field(&Lane::kind, "device")));
}

TEST(AnyTimeline, HasTheOperationsOfTheHistoryWithTheirAnswers) {
  const Timeline& timeline = lost_update();
  ASSERT_EQ(timeline.operations.size(), 2U);
  std::set<std::uint32_t> lanes;
  for (const OperationSpan& operation : timeline.operations) {
    lanes.insert(operation.lane);
    EXPECT_EQ(operation.text, "add 1");
    EXPECT_EQ(operation.kind, "add");
    EXPECT_EQ(operation.answer, "1");
    EXPECT_LT(operation.call_step, operation.return_step);
  }
  EXPECT_EQ(lanes, (std::set{lane_named(timeline, "client 0"), lane_named(timeline, "client 1")}));
}

TEST(AnyTimeline, HasTheVerbsOfEachOperation) {
  const Timeline& timeline = lost_update();
  for (std::uint32_t number = 0; number < timeline.operations.size(); ++number) {
    std::vector<std::string> verbs;
    for (const Request& request : timeline.requests) {
      if (request.operation != number) continue;
      verbs.emplace_back(to_string(request.opcode));
      EXPECT_EQ(request.lane, timeline.operations[number].lane);
      EXPECT_EQ(request.target, "the counter");
      EXPECT_LE(request.posted_step, request.completed_step);
    }
    EXPECT_THAT(verbs, ElementsAre("READ", "WRITE"));
  }
}

TEST(AnyTimeline, PlacesTransfersWordByWord) {
  std::size_t most_effects = 0;
  const auto program = counter_program();
  const auto runner = program->create_runner();
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    const auto scenario = program->draw(seed);
    const explorer::FailingRun run =
        explorer::record(*runner, *scenario, *explorer::make_seeded_strategy(*scenario, seed));
    const Timeline timeline =
        record_timeline(*runner, *scenario, run.choices, {.critical_tries = 0}).timeline;
    std::map<std::uint32_t, std::set<std::uint64_t>> words;  // by request
    for (const Effect& effect : timeline.effects) {
      if (effect.kind != EffectKind::written || effect.offset < record_offset) continue;
      EXPECT_TRUE(words[effect.request].insert(effect.offset).second);
      most_effects = std::max(most_effects, words[effect.request].size());
    }
  }
  EXPECT_GT(most_effects, 1U);
}

TEST(AnyTimeline, ShowsWhatTheWordsContain) {
  const Timeline& timeline = lost_update();
  std::vector<std::string> names;
  for (const WordRow& row : timeline.words) names.push_back(row.name);
  EXPECT_THAT(names,
              ElementsAre("the counter", "record[0]", "record[1]", "record[2]", "record[3]"));
  std::vector<std::string> contents;
  for (const WordChange& change : timeline.word_changes) {
    if (change.row == 0) contents.push_back(change.text);
  }
  EXPECT_THAT(contents, ElementsAre("0", "1"));  // the second WRITE stores 1 again
  const auto written = std::ranges::find_if(timeline.effects, [](const Effect& effect) {
    return effect.kind == EffectKind::written && effect.offset == counter_offset;
  });
  ASSERT_NE(written, timeline.effects.end());
  EXPECT_EQ(written->text, "WRITE places the counter: 1");
  EXPECT_THAT(timeline.word_changes,
              Contains(testing::AllOf(Field(&WordChange::step, written->step),
                                      Field(&WordChange::row, 0U), Field(&WordChange::text, "1"))));
}

TEST(AnyTimeline, HasTheNotesOfTheProgram) {
  const Timeline& timeline = lost_update();
  std::vector<std::pair<std::string, std::string>> notes;
  for (const Mark& mark : timeline.marks) {
    if (mark.kind == MarkKind::note) notes.emplace_back(timeline.lanes[mark.lane].name, mark.text);
  }
  EXPECT_THAT(notes, UnorderedElementsAre(std::pair("client 0", "has read 0"),
                                          std::pair("client 1", "has read 0")));
}

TEST(AnyTimeline, HasTheFibersAndTheStepsInWhichTheyRan) {
  const Timeline& timeline = lost_update();
  std::set<std::uint32_t> lanes;
  for (const FiberRow& fiber : timeline.fibers) {
    lanes.insert(fiber.lane);
    EXPECT_FALSE(fiber.steps.empty());
    EXPECT_TRUE(std::ranges::is_sorted(fiber.steps));
    EXPECT_LT(fiber.row, timeline.lanes[fiber.lane].fiber_rows);
  }
  EXPECT_EQ(lanes.size(), 3U);
}

TEST(AnyTimeline, ExplainsTheViolationByTheReadOfTheStaleWord) {
  const Timeline& timeline = lost_update();
  EXPECT_EQ(timeline.title, "linearizability");
  std::multimap<KeyStepRole, std::string> texts;
  for (const KeyStep& key_step : timeline.key_steps) texts.emplace(key_step.role, key_step.text);
  EXPECT_EQ(texts.count(KeyStepRole::critical), 1U);
  EXPECT_THAT(texts,
              Contains(std::pair(KeyStepRole::stale, std::string("READ returns the counter: 0"))));
  EXPECT_THAT(texts, Contains(std::pair(KeyStepRole::violation, std::string("add 1 answers: 1"))));
}

TEST(AnyTimeline, FaultsAndPausesAreInIt) {
  const auto program = counter_program();
  const auto runner = program->create_runner();
  std::size_t standstills = 0;
  std::size_t faults = 0;
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    const auto scenario = program->draw(seed);
    const explorer::FailingRun run =
        explorer::record(*runner, *scenario, *explorer::make_seeded_strategy(*scenario, seed));
    const Timeline timeline =
        record_timeline(*runner, *scenario, run.choices, {.critical_tries = 0}).timeline;
    standstills += timeline.standstills.size();
    faults +=
        static_cast<std::size_t>(std::ranges::count(timeline.marks, MarkKind::fault, &Mark::kind));
  }
  EXPECT_GT(standstills, 0U);
  EXPECT_GT(faults, 0U);
}

TEST(AnyTimeline, HoldsWhenTheRunHolds) {
  const Timeline timeline = record_counter(false).timeline;
  EXPECT_EQ(timeline.title, "all properties hold");
  EXPECT_THAT(timeline.key_steps, testing::IsEmpty());
}

TEST(AnyTimeline, IsWrittenAsPageJsonAndTraceEvents) {
  const Timeline& timeline = lost_update();
  EXPECT_THAT(to_page(timeline), HasSubstr("the counter"));
  const nlohmann::ordered_json json = to_json(timeline);
  const auto& texts = json["texts"];
  EXPECT_EQ(texts[json["words"]["rows"]["name"][0].get<std::size_t>()], "the counter");
  EXPECT_EQ(texts[json["operations"]["text"][0].get<std::size_t>()], "add 1");
  std::set<std::string> names;
  const nlohmann::ordered_json trace = to_chrome_trace(timeline);
  for (const auto& event : trace["traceEvents"]) names.insert(event["name"]);
  EXPECT_THAT(names, testing::IsSupersetOf({"add 1", "READ", "WRITE", "has read 0"}));
}

}  // namespace
}  // namespace falafel::timeline
