// Timelines of runs: the recorded data is consistent, recording does not change the run, and pages
// and trace events meet the requirements of browsers and viewers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <tuple>

#include "engine/layout/entry.h"
#include "explorer/campaign.h"
#include "explorer/replay.h"
#include "explorer/timeline/chrome_trace.h"
#include "explorer/timeline/page.h"
#include "explorer/timeline/record.h"
#include "explorer/timeline/timeline_json.h"
#include "tests/timeline/hostile_timeline.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/run.h"
#include "tools/scenarios/store/timeline/store_key_steps.h"
#include "tools/scenarios/store/timeline/store_lanes.h"
#include "tools/scenarios/store/timeline/store_memory.h"

namespace falafel::timeline {
namespace {

using store_scenario::StoreLanes;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

RecordedTimeline record_file(const std::string& path, std::uint64_t critical_tries = 0) {
  const auto loaded =
      explorer::load_replay(store_scenario::StoreProgram(), FALAFEL_SOURCE_FOLDER "/" + path);
  if (!loaded) throw std::runtime_error(loaded.error());
  store_scenario::Runner runner;
  RecordedTimeline recorded =
      record_timeline(runner, *loaded->scenario, loaded->file.choices,
                      {.property = loaded->property, .critical_tries = critical_tries});
  EXPECT_EQ(recorded.run.result.trace_hash, loaded->file.trace_hash);
  return recorded;
}

RecordedTimeline record_finding(const std::string& name, std::uint64_t critical_tries = 0) {
  return record_file("tests/replays/store/" + name + ".replay", critical_tries);
}

std::vector<std::string> names_of_findings() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(FALAFEL_SOURCE_FOLDER "/tests/replays/store")) {
    if (entry.path().extension() == ".replay") names.push_back(entry.path().stem().string());
  }
  return names;
}

RecordedTimeline record_seed(std::uint64_t seed) {
  store_scenario::Runner runner;
  const store_scenario::Scenario scenario = store_scenario::draw_scenario({}, seed);
  const explorer::FailingRun run =
      explorer::record(runner, scenario, *explorer::make_seeded_strategy(scenario, seed));
  RecordedTimeline recorded = record_timeline(runner, scenario, run.choices);
  EXPECT_EQ(recorded.run.result.trace_hash, run.run.result.trace_hash);
  return recorded;
}

// Recorded data

TEST(Timeline, HasALaneForEachClientAndForEachPartOfTheServer) {
  const Timeline timeline = record_seed(1).timeline;
  const std::size_t clients = store_scenario::draw_scenario({}, 1).clients.size();
  std::map<std::string_view, std::size_t> kinds;
  for (const Lane& lane : timeline.lanes) ++kinds[lane.kind];
  EXPECT_EQ(kinds[StoreLanes::client_kind], clients);
  for (const std::string_view kind :
       {memory_lane, StoreLanes::collector_kind, StoreLanes::cleanup_kind,
        StoreLanes::membership_kind, StoreLanes::server_kind}) {
    EXPECT_EQ(kinds[kind], 1U);
  }
}

TEST(Timeline, RequestsBelongToTheOperationThatPostsThem) {
  std::size_t with_operation = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Timeline timeline = record_seed(seed).timeline;
    for (const Request& request : timeline.requests) {
      if (request.operation == none) continue;
      ++with_operation;
      const OperationSpan& operation = timeline.operations[request.operation];
      EXPECT_EQ(request.lane, operation.lane);
      EXPECT_GE(request.posted_step, operation.call_step);
      EXPECT_LE(request.posted_step, operation.return_step);
    }
  }
  EXPECT_GT(with_operation, 100U);
}

// Identifiers are reused while words of an earlier request are still to be placed. Each effect must
// therefore lie within the range and the time of its request.
TEST(Timeline, EffectsLieWithinTheirRequests) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Timeline timeline = record_seed(seed).timeline;
    for (const Effect& effect : timeline.effects) {
      if (effect.request == none) continue;
      const Request& request = timeline.requests[effect.request];
      EXPECT_GE(effect.step, request.posted_step);
      EXPECT_LE(effect.step, request.last_step);
      const bool moves_words =
          effect.kind == EffectKind::read || effect.kind == EffectKind::written;
      if (!moves_words) continue;
      EXPECT_GE(effect.offset, request.offset);
      EXPECT_LE(effect.offset + effect.length_bytes, request.offset + request.length_bytes);
    }
  }
}

TEST(Timeline, SourcesAreEarlierWritesOfTheSameWords) {
  const Timeline timeline = record_finding("without-crc-verification").timeline;
  std::size_t sources = 0;
  for (const Effect& effect : timeline.effects) {
    for (const std::uint32_t number : effect.sources) {
      const Effect& source = timeline.effects[number];
      EXPECT_LE(source.step, effect.step);
      EXPECT_LT(source.offset, effect.offset + effect.length_bytes + fabric::word_bytes);
      EXPECT_LT(effect.offset, source.offset + source.length_bytes + fabric::word_bytes);
      ++sources;
    }
  }
  EXPECT_GT(sources, 3U);
}

std::set<std::uint32_t> orphans_of(const Timeline& timeline) {
  std::set<std::uint32_t> orphans;
  for (std::uint32_t number = 0; number < timeline.effects.size(); ++number) {
    if (timeline.effects[number].text.ends_with("in the memory of a crashed server")) {
      orphans.insert(number);
    }
  }
  return orphans;
}

TEST(Timeline, SaysWhatReachesTheMemoryOfADeadServer) {
  const auto is_swapped = [](std::uint64_t seed) {
    const Timeline timeline = record_seed(seed).timeline;
    return std::ranges::any_of(orphans_of(timeline), [&](std::uint32_t number) {
      return timeline.effects[number].kind == EffectKind::swapped;
    });
  };
  std::uint64_t seed = 1;
  while (seed <= 20'000 && !is_swapped(seed)) ++seed;
  EXPECT_LE(seed, 20'000U);
}

TEST(Timeline, KnowsMemoryThatOutlivesItsServersProcess) {
  EXPECT_TRUE(orphans_of(record_finding("without-unlock-before-forgetting").timeline).empty());
}

TEST(Timeline, WhatReachesTheMemoryOfADeadServerIsReadByNobody) {
  std::size_t count = 0;
  for (std::uint64_t seed = 1'401; seed <= 1'500; ++seed) {
    const Timeline timeline = record_seed(seed).timeline;
    const std::set<std::uint32_t> orphans = orphans_of(timeline);
    count += orphans.size();
    for (const Effect& effect : timeline.effects) {
      for (const std::uint32_t source : effect.sources) {
        EXPECT_FALSE(orphans.contains(source)) << "seed " << seed << ": " << effect.text;
      }
    }
  }
  EXPECT_GT(count, 0U);
}

TEST(Timeline, RowsHoldOneBarAtATime) {
  const Timeline timeline = record_finding("without-exclusion").timeline;
  std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, std::uint64_t> ends;
  const auto expect_free = [&](bool is_request, std::uint32_t lane, std::uint32_t row,
                               std::uint64_t first, std::uint64_t last) {
    std::uint64_t& end = ends[{is_request, lane, row}];
    EXPECT_LE(end, first);
    end = last;
  };
  for (const OperationSpan& operation : timeline.operations) {
    expect_free(false, operation.lane, operation.row, operation.call_step, operation.return_step);
    EXPECT_LT(operation.row, timeline.lanes[operation.lane].operation_rows);
  }
  for (const Request& request : timeline.requests) {
    expect_free(true, request.lane, request.row, request.posted_step, request.last_step);
    EXPECT_LT(request.row, timeline.lanes[request.lane].request_rows);
  }
}

// Pauses of hosts and of queue pairs. A pause that a clock jump skips ends in its first step, and
// one that the end of the run interrupts has no end.
TEST(Timeline, PausesBeginAndEnd) {
  std::uint64_t of_hosts = 0;
  std::uint64_t of_queue_pairs = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    for (const Standstill& standstill : record_seed(seed).timeline.standstills) {
      EXPECT_LE(standstill.first_step, standstill.last_step);
      if (standstill.last_step == never) continue;
      ++(standstill.is_host ? of_hosts : of_queue_pairs);
    }
  }
  EXPECT_GT(of_hosts, 0U);
  EXPECT_GT(of_queue_pairs, 0U);
}

TEST(Timeline, CrashesEndOperations) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Timeline timeline = record_seed(seed).timeline;
    const auto abandoned =
        std::ranges::find(timeline.operations, "its client crashed", &OperationSpan::answer);
    if (abandoned == timeline.operations.end()) continue;
    const bool has_mark = std::ranges::any_of(timeline.marks, [&](const Mark& mark) {
      return mark.kind == MarkKind::crashed && mark.lane == abandoned->lane &&
             mark.step == abandoned->return_step;
    });
    EXPECT_TRUE(has_mark);
    return;
  }
  FAIL() << "no client crashed during an operation";
}

TEST(Timeline, RegionsAreLiveGarbageAndFree) {
  std::set<engine::RegionState> states;
  bool has_live = false;
  for (const std::string& finding : names_of_findings()) {
    const Timeline timeline = record_finding(finding).timeline;
    const store_scenario::StoreMemory& memory = store_scenario::store_memory(timeline);
    for (const store_scenario::RegionChange& change : memory.memory.regions) {
      states.insert(change.use.state);
      EXPECT_LE(change.use.written_bytes, memory.geometry.region_bytes);
      EXPECT_EQ(change.use.connection != none, change.use.state == engine::RegionState::granted);
      has_live = has_live || change.use.live_bytes > 0;
    }
  }
  EXPECT_THAT(states, SizeIs(5));
  EXPECT_TRUE(has_live);
}

// Reasons of the failure

std::vector<std::string> texts_of(const Timeline& timeline, KeyStepRole role) {
  std::vector<std::string> texts;
  for (const KeyStep& key_step : timeline.key_steps) {
    if (key_step.role == role) texts.push_back(key_step.text);
  }
  return texts;
}

TEST(KeySteps, LeadFromTheOriginOfAStaleValueToTheViolation) {
  const Timeline timeline = record_finding("without-crc-verification", 20).timeline;
  EXPECT_TRUE(std::ranges::is_sorted(timeline.key_steps, {}, &KeyStep::step));
  EXPECT_THAT(texts_of(timeline, KeyStepRole::origin),
              testing::Contains(StartsWith("WRITE places ")));
  EXPECT_THAT(texts_of(timeline, KeyStepRole::stale),
              testing::Contains(StartsWith("READ returns ")));
  EXPECT_THAT(texts_of(timeline, KeyStepRole::critical), SizeIs(1));
  const std::vector<std::string> violations = texts_of(timeline, KeyStepRole::violation);
  EXPECT_THAT(violations, testing::Not(testing::IsEmpty()));
  EXPECT_THAT(violations, testing::Each(HasSubstr(" answers: ")));
}

TEST(KeySteps, TellWhatBecameOfTheRegionThatAnEntryPointsTo) {
  const std::regex dangling("points into (region [0-9]+), which is free");
  std::size_t count = 0;
  for (const std::string& finding : names_of_findings()) {
    const Timeline timeline = record_finding(finding).timeline;
    for (const std::string& violation : texts_of(timeline, KeyStepRole::violation)) {
      std::smatch match;
      if (!std::regex_search(violation, match, dangling)) continue;
      ++count;
      EXPECT_THAT(texts_of(timeline, KeyStepRole::context),
                  testing::Contains(match[1].str() + " is free"))
          << finding;
    }
  }
  EXPECT_GT(count, 0U);
}

TEST(KeySteps, ALongExplanationIsCutToItsFirstLine) {
  Timeline timeline = record_seed(1).timeline;
  const checkers::Judgement violation{.verdict = checkers::Verdict::violated,
                                      .property = "progress.unfinished",
                                      .explanation = "one operation\nhost server: alive"};
  timeline.key_steps = store_scenario::StoreKeySteps(timeline).find({violation}, std::nullopt);
  EXPECT_THAT(texts_of(timeline, KeyStepRole::violation),
              testing::ElementsAre("progress.unfinished: one operation"));
}

TEST(KeySteps, ThereAreSomeForEveryFinding) {
  for (const std::string& finding : names_of_findings()) {
    const Timeline timeline = record_finding(finding).timeline;
    EXPECT_THAT(texts_of(timeline, KeyStepRole::violation), Not(testing::IsEmpty())) << finding;
    EXPECT_THAT(texts_of(timeline, KeyStepRole::stale), Not(testing::IsEmpty())) << finding;
  }
}

TEST(KeySteps, ThereAreNoneWhenAllHolds) {
  EXPECT_THAT(record_seed(3).timeline.key_steps, testing::IsEmpty());
}

// Texts and pages

TEST(Readable, KeepsWhatIsPlainAndEscapesTheRest) {
  EXPECT_EQ(readable("key 0"), "key 0");
  EXPECT_EQ(readable("\u043a\u043b\u044e\u0447 \u00e9"), "\u043a\u043b\u044e\u0447 \u00e9");
  EXPECT_EQ(readable("a\\b"), "a\\\\b");
  EXPECT_EQ(readable(std::string_view("\0\x1f\x7f\n", 4)), "\\x00\\x1f\\x7f\\x0a");
  EXPECT_EQ(readable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(readable("\xc3("), "\\xc3(");
  EXPECT_EQ(readable("\u202e\u200b\u00ad\ufeff"),
            "\\xe2\\x80\\xae\\xe2\\x80\\x8b\\xc2\\xad\\xef\\xbb\\xbf");
  EXPECT_EQ(readable("\xf0\x9f\xa7\x86"), "\\xf0\\x9f\\xa7\\x86");
}

TEST(Readable, CutsLongBytesAndSaysHowLongTheyAre) {
  const std::string text = readable(std::string(65'536, 'k'));
  EXPECT_THAT(text, StartsWith("kkkkkkkk"));
  EXPECT_THAT(text, testing::EndsWith("… (65536 bytes)"));
  EXPECT_LT(text.size(), 80U);
}

TEST(Page, NothingInItsDataEndsTheScriptThatHoldsIt) {
  const std::string page = to_page(hostile_timeline());
  const std::size_t begin = page.find("id=\"data\">");
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = page.find('<', begin);
  EXPECT_EQ(page.substr(end, 9), "</script>");
  const auto json = nlohmann::json::parse(page.substr(begin + 10, end - begin - 10));
  EXPECT_EQ(json["title"], hostile_texts()[0]);
  EXPECT_EQ(json["steps"], 100);
}

TEST(Page, StandsAlone) {
  const std::string page = to_page(record_finding("without-tag-discipline").timeline);
  for (const char* reference : {" src=", "<link", "@import", "fetch(", "import("}) {
    EXPECT_EQ(page.find(reference), std::string::npos) << reference;
  }
}

TEST(Page, IsNotWrittenWhereNoFileCanBe) {
  const auto written = write_page(hostile_timeline(), "/no such folder/trace.html");
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error(), StartsWith("/no such folder/trace.html: "));
}

}  // namespace
}  // namespace falafel::timeline
