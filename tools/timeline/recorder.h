// Observes a run and collects its timeline: lanes, operations, requests with their effects, faults,
// and changes of memory. key_steps.h adds the reasons of a failure later.
//
// The recorder links each effect to its request, and each read to the effects that wrote the words.
// For this, it records the last writer of each word of the server's memory.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tools/store_scenario/run.h"
#include "tools/store_scenario/server_lives.h"
#include "tools/store_scenario/story.h"
#include "tools/timeline/lanes.h"
#include "tools/timeline/memory_recorder.h"
#include "tools/timeline/timeline.h"

namespace falafel::timeline {

class Recorder final : public store_scenario::RunListener {
 public:
  explicit Recorder(const store_scenario::Scenario& scenario);

  void on_memory(std::uint64_t step, const checkers::MemoryView* memory) override;
  void on_call(const checkers::Operation& operation) override;
  void on_return(const checkers::Operation& operation, engine::Answer answer) override;
  void observe(const sim::TraceEvent& event) override;
  void introduce(const sim::Subject& subject) override;
  void observe_pause(const sim::Pause& pause) override;

  // Call once after the run.
  Timeline finish(const sim::RunResult& result);

 private:
  using RequestName = std::pair<std::uint32_t, std::uint64_t>;  // queue pair, position in its queue
  using Standing = std::pair<sim::SubjectKind, std::uint32_t>;

  void keep_time(const sim::TraceEvent& event);
  std::uint32_t lane_of_sender(const sim::TraceEvent& event) const;
  void on_posted(const sim::TraceEvent& event);
  void on_completed(const sim::TraceEvent& event);
  void on_effect(const sim::TraceEvent& event);
  void on_processor_access(const sim::TraceEvent& event);
  void on_queue_pair_error(const sim::TraceEvent& event);
  void on_host_died(std::uint32_t host);
  void forget_memory();
  void mark(MarkKind kind, std::uint32_t lane, std::string text);
  void add_effect(Effect effect);
  void note_sources(Effect& effect) const;
  void note_write(const Effect& effect, std::uint32_t number);
  void note_owner(const Effect& effect);

  const store_scenario::Scenario& scenario_;
  store_scenario::StoreStory story_;
  store_scenario::ServerLives lives_;
  Lanes lanes_;
  MemoryRecorder memory_;
  Timeline timeline_;
  std::uint64_t step_ = 0;
  std::uint64_t time_ns_ = 0;
  std::uint64_t memory_step_ = 0;  // step of the last inspection of the memory
  std::uint32_t running_ = 0;      // the last fiber that ran
  std::map<std::uint32_t, std::uint32_t> operation_of_fiber_;
  std::map<std::uint64_t, std::uint32_t> operation_of_call_;  // pending operations
  std::map<RequestName, std::uint32_t> requests_;
  std::map<Standing, std::uint32_t> standing_;  // currently paused
  std::vector<std::uint32_t> writers_;          // last effect of each word
  std::vector<std::uint32_t> connections_;      // by region: the owner
  std::uint32_t first_connection_ = 0;          // of the current run of the server
  std::uint64_t running_step_ = 0;              // the step in which `running_` ran
};

}  // namespace falafel::timeline
