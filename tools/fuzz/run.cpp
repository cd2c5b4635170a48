#include "tools/fuzz/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "checkers/aba.h"
#include "checkers/collector.h"
#include "checkers/memory_view.h"
#include "checkers/progress.h"
#include "tools/fuzz/server_lives.h"
#include "tools/fuzz/store_world.h"

namespace falafel::fuzz {
namespace {

using checkers::Judgement;
using checkers::Verdict;

// More verbs than operations of small worlds can need before one of them ends, whatever they meet: several
// times what was seen in 80,000 schedules.
constexpr std::uint64_t most_verbs_without_completion = 1'000;

// Feeds the checkers that look at every step.
class Observer : public sim::TraceObserver {
 public:
  Observer(const Scenario& scenario, StoreWorld& world, const RunOptions& options)
      : geometry_(scenario.geometry),
        world_(world),
        options_(options),
        aba_(scenario.geometry.table_entries),
        progress_(most_verbs_without_completion) {}

  void observe(const sim::TraceEvent& event) override;
  sim::EventKinds observed_kinds() const override;
  void introduce(const sim::Subject& subject) override {
    if (options_.listener != nullptr) options_.listener->introduce(subject);
  }
  void on_end(const sim::RunResult& result);
  void observe_pause(const sim::Pause& pause) override {
    if (options_.listener != nullptr) options_.listener->observe_pause(pause);
  }
  void show_memory(std::uint64_t step);  // to the listener, which there is
  void add_violations(std::vector<Judgement>& violations) const;

 private:
  std::optional<std::uint64_t> slot_at(std::uint64_t offset) const;
  void on_words_read(const sim::TraceEvent& event);
  void on_atomic_written(const sim::TraceEvent& event);
  void on_request_posted(const sim::TraceEvent& event);
  void check_slot(std::uint64_t slot);
  // Calls look(view), if there is a server.
  template <typename Look>
  void with_memory(Look look);

  const engine::Geometry& geometry_;
  StoreWorld& world_;
  const RunOptions& options_;
  checkers::AbaChecker aba_;
  checkers::ProgressChecker progress_;
  ServerLives lives_;
  std::uint64_t completed_operations_ = 0;
  std::uint64_t step_ = 0;
  Judgement dangling_{.verdict = Verdict::holds, .property = {}, .explanation = {}};
  std::string how_it_ended_;  // unless everybody came to an end
};

std::optional<std::uint64_t> Observer::slot_at(std::uint64_t offset) const {
  const std::uint64_t begin = engine::Geometry::table_offset();
  if (offset < begin || offset >= begin + geometry_.table_entries * engine::entry_bytes) {
    return std::nullopt;
  }
  return (offset - begin) / engine::entry_bytes;
}

sim::EventKinds Observer::observed_kinds() const {
  if (options_.listener != nullptr) return sim::all_event_kinds;
  return sim::event_kinds({sim::EventKind::words_read, sim::EventKind::atomic_written,
                           sim::EventKind::request_posted, sim::EventKind::connection,
                           sim::EventKind::host_started, sim::EventKind::host_died});
}

// Requests that read or swap address the server's chunk, whoever posts them; so offsets tell what is meant.
void Observer::observe(const sim::TraceEvent& event) {
  if (options_.listener != nullptr && event.step != step_) show_memory(step_ = event.step);
  lives_.observe(event);
  switch (event.kind) {
    case sim::EventKind::words_read: on_words_read(event); break;
    case sim::EventKind::atomic_written: on_atomic_written(event); break;
    case sim::EventKind::request_posted: on_request_posted(event); break;
    case sim::EventKind::host_died: world_.on_host_died(event.subject); break;
    default: break;
  }
  if (options_.listener != nullptr) options_.listener->observe(event);
}

void Observer::on_words_read(const sim::TraceEvent& event) {
  if (!lives_.is_in_use(event.subject)) return;
  for (std::size_t position = 0; position + engine::entry_bytes <= event.data.size();
       position += engine::entry_bytes) {
    const auto slot = slot_at(event.offset + position);
    if (!slot) return;
    std::uint64_t word = 0;
    std::memcpy(&word, event.data.data() + position, sizeof word);
    aba_.on_read(event.subject, *slot, engine::Entry(word));
  }
}

void Observer::on_atomic_written(const sim::TraceEvent& event) {
  const auto slot = slot_at(event.offset);
  if (!slot || event.word == event.previous_word || !lives_.is_in_use(event.subject)) return;
  aba_.on_swapped(event.subject, *slot, engine::Entry(event.previous_word),
                  engine::Entry(event.word), event.step);
  if (options_.paranoid) check_slot(*slot);
}

// Operations are made of READs, WRITEs and atomics. The SENDs beside them are mostly heartbeats, which go on
// while an operation has to wait for somebody who stands still.
void Observer::on_request_posted(const sim::TraceEvent& event) {
  if (event.detail == static_cast<std::uint8_t>(fabric::Opcode::send)) return;
  if (world_.completed_operations() != completed_operations_) {
    completed_operations_ = world_.completed_operations();
    progress_.on_completed();
  }
  // An operation that goes on for ever would fill whatever time it is given.
  if (world_.unfinished_operations() > 0 && progress_.on_verb(event.step)) world_.stop();
}

// The event comes before the word is stored, so the slot that changes still holds its old word. Its new one
// is judged at the next change, and at rest.
void Observer::check_slot(std::uint64_t changed) {
  if (dangling_.verdict != Verdict::holds) return;
  with_memory([&](const checkers::MemoryView& view) {
    for (std::uint64_t slot = 0; slot < geometry_.table_entries; ++slot) {
      if (slot == changed) continue;
      Judgement judgement = checkers::check_entry(view, slot);
      if (judgement.verdict == Verdict::violated) {
        dangling_ = std::move(judgement);
        return;
      }
    }
  });
}

template <typename Look>
void Observer::with_memory(Look look) {
  if (world_.server() == nullptr) return;
  const engine::ServerInspection inspection = world_.server()->inspect();
  look(checkers::MemoryView{.geometry = geometry_,
                            .hash_key = world_.server()->hash_key(),
                            .chunk = world_.server()->memory().bytes(),
                            .regions = inspection.regions,
                            .mature_spaces = inspection.mature_spaces});
}

void Observer::show_memory(std::uint64_t step) {
  if (world_.server() == nullptr) options_.listener->on_memory(step, nullptr);
  with_memory([&](const checkers::MemoryView& view) { options_.listener->on_memory(step, &view); });
}

// The faults were over long before: whoever has not come to an end never will.
void Observer::on_end(const sim::RunResult& result) {
  if (result.outcome == sim::Outcome::completed) return;
  progress_.on_end(std::max<std::uint64_t>(world_.unfinished_operations(), 1));
  how_it_ended_ = "; " + result.explanation;
}

void Observer::add_violations(std::vector<Judgement>& violations) const {
  Judgement progress = progress_.judgement();
  progress.explanation += how_it_ended_;
  std::array judgements{std::move(progress), aba_.judgement(), dangling_};
  for (Judgement& judgement : judgements) {
    if (judgement.verdict == Verdict::violated) violations.push_back(std::move(judgement));
  }
}

}  // namespace

std::string StoreRun::property() const {
  return violations.empty() ? std::string() : violations.front().property;
}

Runner::Runner() : linearizability_(checkers::Model::key_value_register) {}

StoreRun Runner::run(const Scenario& scenario, sim::Strategy& strategy, const RunOptions& options) {
  StoreWorld world(scenario, options.listener);
  Observer observer(scenario, world, options);
  StoreRun run;
  {
    sim::Simulation simulation(scenario.simulation, strategy, stacks_, &observer);
    world.add_hosts(simulation);
    run.result = simulation.run();
    if (options.listener != nullptr) observer.show_memory(run.result.steps + 1);
  }
  if (run.result.outcome == sim::Outcome::diverged) return run;
  run.violations = world.violations();
  observer.on_end(run.result);
  for (auto& [incarnation, history] : world.histories()) {
    Judgement judgement = linearizability_.check(history.operations());
    if (judgement.verdict == Verdict::violated)
      run.violations.push_back(std::move(judgement));
    else if (judgement.verdict == Verdict::unknown)
      run.unknown.push_back(std::move(judgement));
  }
  observer.add_violations(run.violations);
  return run;
}

}  // namespace falafel::fuzz
