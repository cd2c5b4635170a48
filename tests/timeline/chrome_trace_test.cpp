// The trace event format:
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. The test checks
// its rules for every event of all findings.
#include "explorer/timeline/chrome_trace.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "explorer/replay.h"
#include "explorer/timeline/record.h"

namespace falafel::timeline {
namespace {

using Json = nlohmann::ordered_json;

struct Traced {
  Timeline timeline;
  Json json;
};

using Thread = std::pair<std::uint64_t, std::uint64_t>;
Thread thread_of(const Json& event) {
  return {event["pid"].get<std::uint64_t>(), event["tid"].get<std::uint64_t>()};
}

// Parses the trace as a reader of the file does.
Traced trace_of(const std::filesystem::path& path) {
  const auto loaded = explorer::load_replay(store_scenario::StoreProgram(), path.string());
  if (!loaded) throw std::runtime_error(loaded.error());
  store_scenario::Runner runner;
  Traced traced{.timeline = record_timeline(runner, *loaded->scenario, loaded->file.choices,
                                            {.critical_tries = 0})
                                .timeline,
                .json = {}};
  traced.json = Json::parse(to_chrome_trace(traced.timeline).dump());
  return traced;
}

std::vector<Traced> all_traces() {
  std::vector<Traced> traces;
  for (const auto& entry :
       std::filesystem::directory_iterator(FALAFEL_SOURCE_FOLDER "/tests/replays/store")) {
    if (entry.path().extension() == ".replay") traces.push_back(trace_of(entry.path()));
  }
  return traces;
}

TEST(ChromeTrace, EventsHaveTheFieldsOfTheirPhase) {
  const std::map<std::string, std::vector<const char*>> more_fields = {
      {"M", {"args"}}, {"X", {"dur", "args"}}, {"i", {"s"}},  {"s", {"id"}},
      {"t", {"id"}},   {"f", {"id", "bp"}},    {"b", {"id"}}, {"e", {"id"}}};
  for (const auto& [timeline, json] : all_traces()) {
    ASSERT_TRUE(json["traceEvents"].is_array());
    EXPECT_TRUE(json["displayTimeUnit"] == "ms" || json["displayTimeUnit"] == "ns");
    for (const Json& event : json["traceEvents"]) {
      EXPECT_TRUE(event["name"].is_string()) << event;
      EXPECT_TRUE(event.contains("cat") && event["cat"].is_string()) << event;
      EXPECT_TRUE(event["pid"].is_number_unsigned()) << event;
      EXPECT_TRUE(event["tid"].is_number_unsigned()) << event;
      EXPECT_TRUE(event["ts"].is_number() && event["ts"] >= 0) << event;
      const auto fields = more_fields.find(event["ph"].get<std::string>());
      ASSERT_NE(fields, more_fields.end()) << event;
      for (const char* field : fields->second) EXPECT_TRUE(event.contains(field)) << event;
      EXPECT_TRUE(event["ph"] != "X" || event["dur"] >= 0) << event;
      EXPECT_TRUE(event["ph"] != "i" || event["s"] == "g" || event["s"] == "t") << event;
    }
  }
}

TEST(ChromeTrace, ProcessesAndThreadsHaveNames) {
  for (const auto& [timeline, json] : all_traces()) {
    std::map<std::uint64_t, std::string> processes;
    std::set<Thread> threads;
    for (const Json& event : json["traceEvents"]) {
      if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
      if (event["name"] == "thread_name") threads.insert(thread_of(event));
    }
    ASSERT_EQ(processes.size(), timeline.lanes.size());
    EXPECT_EQ(processes.begin()->second, "client 0");
    for (const Json& event : json["traceEvents"]) {
      if (event["ph"] == "M") continue;
      EXPECT_TRUE(threads.contains(thread_of(event))) << event;
    }
  }
}

// Each flow starts once, ends once, and goes forward; its start and end lie in slices of their
// threads.
TEST(ChromeTrace, FlowsAreMatched) {
  struct Flow {
    std::vector<double> starts, ends, times;
  };
  for (const auto& [timeline, json] : all_traces()) {
    std::map<std::uint64_t, Flow> flows;
    std::map<Thread, std::vector<std::pair<double, double>>> slices;
    for (const Json& event : json["traceEvents"]) {
      if (event["ph"] != "X") continue;
      const double begin = event["ts"];
      slices[thread_of(event)].emplace_back(begin, begin + event["dur"].get<double>());
    }
    for (const Json& event : json["traceEvents"]) {
      if (event.value("cat", "") != "flow") continue;
      Flow& flow = flows[event["id"]];
      const double time = event["ts"];
      flow.times.push_back(time);
      if (event["ph"] == "s") flow.starts.push_back(time);
      if (event["ph"] == "f") flow.ends.push_back(time);
      const bool is_in_slice =
          std::ranges::any_of(slices[thread_of(event)], [&](const auto& slice) {
            return slice.first - 1e-6 <= time && time <= slice.second + 1e-6;
          });
      EXPECT_TRUE(is_in_slice) << event;
    }
    EXPECT_FALSE(flows.empty());
    for (const auto& [id, flow] : flows) {
      EXPECT_EQ(flow.starts.size(), 1U) << id;
      EXPECT_EQ(flow.ends.size(), 1U) << id;
      EXPECT_TRUE(std::ranges::is_sorted(flow.times)) << id;
    }
  }
}

// Complete events of a thread are disjoint or nested, as viewers require.
TEST(ChromeTrace, SlicesOfAThreadDoNotCross) {
  for (const auto& [timeline, json] : all_traces()) {
    std::map<Thread, double> ends;
    for (const Json& event : json["traceEvents"]) {
      if (event["ph"] != "X") continue;
      double& end = ends[thread_of(event)];
      EXPECT_GE(event["ts"].get<double>(), end - 1e-6) << event;
      end = event["ts"].get<double>() + event["dur"].get<double>();
    }
  }
}

// Pauses may overlap, so they are asynchronous events; each has a begin and an end.
TEST(ChromeTrace, StandstillsBeginAndEnd) {
  std::size_t standstills = 0;
  for (const auto& [timeline, json] : all_traces()) {
    std::map<std::uint64_t, double> begins;
    std::set<std::uint64_t> ended;
    for (const Json& event : json["traceEvents"]) {
      const std::uint64_t id = event.value("id", std::uint64_t{0});
      if (event["ph"] == "b") {
        EXPECT_TRUE(begins.emplace(id, event["ts"]).second) << event;
      }
      if (event["ph"] != "e") continue;
      ASSERT_TRUE(begins.contains(id)) << event;
      EXPECT_GE(event["ts"].get<double>(), begins[id]) << event;
      EXPECT_TRUE(ended.insert(id).second) << event;
    }
    EXPECT_EQ(begins.size(), timeline.standstills.size());
    EXPECT_EQ(ended.size(), timeline.standstills.size());
    standstills += begins.size();
  }
  EXPECT_GT(standstills, 0U);
}

TEST(ChromeTrace, HasEveryOperationAndRequest) {
  for (const auto& [timeline, json] : all_traces()) {
    std::map<std::string, std::size_t> counts;
    for (const Json& event : json["traceEvents"]) {
      if (event["ph"] == "X") ++counts[event["cat"]];
    }
    EXPECT_EQ(counts["operation"], timeline.operations.size());
    EXPECT_EQ(counts["request"], timeline.requests.size());
  }
}

}  // namespace
}  // namespace falafel::timeline
