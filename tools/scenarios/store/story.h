// The story of a run of the store.
#pragma once

#include <cstdint>
#include <vector>

#include "explorer/story.h"
#include "tools/scenarios/store/reporting_listener.h"
#include "tools/scenarios/store/run.h"
#include "tools/scenarios/store/scenario.h"
#include "tools/scenarios/store/vocabulary.h"

namespace falafel::store_scenario {

class StoreStory final : public RunListener {
 public:
  // The scenario outlives the story.
  explicit StoreStory(const Scenario& scenario)
      : vocabulary_(scenario), story_(vocabulary_), reporting_(scenario, story_) {}

  void observe(const sim::TraceEvent& event) override { story_.observe(event); }
  void introduce(const sim::Subject& subject) override { story_.introduce(subject); }
  void on_memory(std::uint64_t, const checkers::MemoryView*) override {}
  void on_call(const checkers::Operation& operation) override { reporting_.on_call(operation); }
  void on_return(const checkers::Operation& operation, engine::Answer answer) override {
    reporting_.on_return(operation, answer);
  }
  void on_scan_called(const checkers::KeyScan& scan) override { reporting_.on_scan_called(scan); }
  void on_scan_returned(const checkers::KeyScan& scan, engine::Answer answer) override {
    reporting_.on_scan_returned(scan, answer);
  }

  const std::vector<explorer::StoryLine>& lines() const { return story_.lines(); }

 private:
  StoreVocabulary vocabulary_;
  explorer::Story story_;
  ReportingListener reporting_;
};

}  // namespace falafel::store_scenario
