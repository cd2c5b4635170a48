// Observes a run and collects its timeline: lanes, operations, requests with their effects, faults,
// notes, and the contents of memory. key_steps.h adds the reasons of a failure later.
//
// The recorder links each effect to its request, and each read to the effects that wrote the words.
// For this, it records the last writer of each word.
//
// A program whose memory deserves more than rows of words derives a recorder of its own and returns
// it from Runner::create_recorder.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkers/judgement.h"
#include "explorer/critical_step.h"
#include "explorer/program.h"
#include "explorer/run_listener.h"
#include "explorer/story.h"
#include "explorer/subjects.h"
#include "explorer/timeline/lanes.h"
#include "explorer/timeline/timeline.h"
#include "explorer/timeline/word_recorder.h"

namespace falafel::timeline {

class Recorder : public explorer::RunListener {
 public:
  // The arguments outlive the recorder.
  Recorder(explorer::Runner& runner, const explorer::Scenario& scenario);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Runs the scenario and observes it.
  virtual explorer::Run run(sim::Strategy& strategy);
  // Call once after the run.
  virtual Timeline finish(const sim::RunResult& result);
  virtual std::vector<KeyStep> find_key_steps(
      const Timeline& timeline, const std::vector<checkers::Judgement>& violations,
      const std::optional<explorer::CriticalStep>& critical) const;

  void observe(const sim::TraceEvent& event) override;
  void introduce(const sim::Subject& subject) override;
  void observe_pause(const sim::Pause& pause) override;
  void on_call(std::string_view party, std::uint64_t operation, std::string_view text) override;
  void on_return(std::string_view party, std::uint64_t operation, std::string_view text) override;
  void on_note(std::string_view party, std::string_view text) override;

 protected:
  // A program's own lanes, and nothing of what the program shows itself: the words of memory, what
  // processors read, and fibers.
  Recorder(explorer::Runner& runner, const explorer::Scenario& scenario,
           std::unique_ptr<Lanes> lanes);

  std::uint64_t step() const { return step_; }
  std::uint32_t running_fiber() const { return running_; }
  bool has_run_in_this_step() const { return running_step_ == step_; }
  const Lanes& lanes() const { return *lanes_; }
  // With `is_of_fiber`, requests of the running fiber belong to the operation.
  void begin_operation(OperationSpan operation, bool is_of_fiber);
  void end_operation(std::uint64_t number, std::string label, std::string answer);
  void mark(MarkKind kind, std::uint32_t lane, std::string text);
  // A queue pair enters the error state, or is closed.
  virtual void on_queue_pair_error(const sim::TraceEvent& event);
  virtual void on_host_died(std::uint32_t host);

 private:
  Recorder(explorer::Runner& runner, const explorer::Scenario& scenario,
           std::unique_ptr<Lanes> lanes, bool shows_words);

  using RequestName = std::pair<std::uint32_t, std::uint64_t>;  // queue pair, position in its queue
  using Standing = std::pair<sim::SubjectKind, std::uint32_t>;
  using Word = std::pair<std::uint32_t, std::uint64_t>;  // memory, number of the word
  // By memory and offset: the word that a processor's fiber read last.
  using Seen = std::map<Word, std::uint64_t>;

  // Tells if the page shows what processors of this lane store.
  virtual bool shows_processor(std::uint32_t /*lane*/) const { return true; }
  virtual std::string describe(const sim::RunResult& result) const;
  // The effect is about to change memory that is in use.
  virtual void on_written(const Effect& /*effect*/) {}

  void keep_time(const sim::TraceEvent& event);
  void on_fiber_runs(const sim::TraceEvent& event);
  void on_posted(const sim::TraceEvent& event);
  void on_completed(const sim::TraceEvent& event);
  void on_effect(const sim::TraceEvent& event);
  void on_processor_access(const sim::TraceEvent& event);
  void on_processor_read(const sim::TraceEvent& event);
  Effect effect_of_processor(const sim::TraceEvent& event, EffectKind kind) const;
  void add_effect(Effect effect);
  void note_sources(Effect& effect) const;
  void note_write(const Effect& effect, std::uint32_t number);
  void note_contents(const sim::TraceEvent& event, std::uint32_t memory);
  std::string detail_of(const fabric::WorkRequest& posted) const;
  // The memories to show: those that requests access. If there are none, all that processors do.
  std::set<std::uint32_t> shown_memories() const;
  void leave_out_effects(const std::set<std::uint32_t>& shown);
  void add_fibers();

  explorer::Runner& runner_;
  const explorer::Scenario& scenario_;
  const explorer::Vocabulary& vocabulary_;
  explorer::Story story_;
  explorer::Subjects subjects_;
  std::unique_ptr<Lanes> lanes_;
  const bool shows_words_;
  WordRecorder words_;
  Timeline timeline_;
  std::uint64_t step_ = 0;
  std::uint64_t time_ns_ = 0;
  std::uint32_t running_ = 0;       // the last fiber that ran
  std::uint64_t running_step_ = 0;  // the step in which `running_` ran
  std::map<std::uint32_t, std::uint32_t> operation_of_fiber_;
  std::map<std::uint64_t, std::uint32_t> operation_of_call_;  // pending operations
  std::map<RequestName, std::uint32_t> requests_;
  std::map<Standing, std::uint32_t> standing_;  // currently paused
  std::map<Word, std::uint32_t> writers_;       // last effect of each word
  std::map<std::uint32_t, Seen> seen_;          // by fiber
  std::map<std::uint32_t, std::vector<std::uint64_t>> steps_of_fibers_;
};

}  // namespace falafel::timeline
