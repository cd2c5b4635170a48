#include "explorer/shrink.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "explorer/crash_recorder.h"
#include "explorer/scripted_strategy.h"
#include "explorer/wall_clock.h"
#include "fabric/assert.h"
#include "fabric/sim/strategies/make_strategy.h"

namespace falafel::explorer {
namespace {

// A 64-bit choice has no neutral answer and stays as it is.
bool is_neutral(const sim::Choice& choice) {
  return choice.bound == 0 || choice.value == neutral_answer(choice.kind, choice.bound);
}

// Runs a schedule; returns nullopt unless it fails in the required way.
using Trial = std::function<std::optional<FailingRun>(const Scenario&, sim::Strategy&)>;

Trial violation_trial(Runner& runner, const std::string& property) {
  return [&runner, property](const Scenario& scenario,
                             sim::Strategy& strategy) -> std::optional<FailingRun> {
    FailingRun failing = record(runner, scenario, strategy);
    if (!failing.run.violates(property)) return std::nullopt;
    failing.run.put_first(property);
    return failing;
  };
}

FailingRun to_failing_run(const Scenario& scenario, RecordedCrash crash) {
  FailingRun failing{.scenario = scenario.clone(), .choices = std::move(crash.choices), .run = {}};
  failing.run.result.steps = crash.steps;
  failing.run.violations.push_back({.verdict = checkers::Verdict::violated,
                                    .property = std::string(crash.property),
                                    .explanation = std::move(crash.explanation)});
  return failing;
}

Trial crash_trial(const Program& program, const std::string& fingerprint, double patience_seconds) {
  return [&program, fingerprint, patience_seconds](
             const Scenario& scenario, sim::Strategy& strategy) -> std::optional<FailingRun> {
    auto crash = record_crash(program, scenario, strategy, patience_seconds);
    if (!crash || crash->fingerprint != fingerprint) return std::nullopt;
    return to_failing_run(scenario, std::move(*crash));
  };
}

class Shrinking final : public Simplifier {
 public:
  Shrinking(Trial trial, FailingRun failing, const ShrinkOptions& options,
            const std::function<void(const FailingRun&)>& progress)
      : trial_(std::move(trial)),
        options_(options),
        progress_(progress),
        best_(std::move(failing)),
        found_step_limit_(best_.scenario->simulation.step_limit),
        end_(now_seconds() + options.seconds) {}

  FailingRun run();

  const Scenario& best() const override { return *best_.scenario; }
  bool attempt(const Scenario& candidate) override;
  bool is_time_over() const override { return now_seconds() > end_; }

 private:
  // Returns whether it shortened the schedule.
  bool shorten_schedule();
  void truncate();
  void clear_answers();
  void find_shorter_schedule();
  bool accept(const Scenario& scenario, sim::Strategy& strategy, std::uint64_t most_steps);
  // Returns false if a lower step limit than that of the run to shrink has only cut the candidate
  // off.
  bool fails_without_lower_limit(const FailingRun& candidate) const;

  Trial trial_;
  const ShrinkOptions& options_;
  const std::function<void(const FailingRun&)>& progress_;
  FailingRun best_;
  std::uint64_t found_step_limit_;
  double end_;
};

bool Shrinking::accept(const Scenario& scenario, sim::Strategy& strategy,
                       std::uint64_t most_steps) {
  std::optional<FailingRun> candidate = trial_(scenario, strategy);
  if (!candidate || candidate->run.result.steps > most_steps) return false;
  if (!fails_without_lower_limit(*candidate)) return false;
  best_ = std::move(*candidate);
  progress_(best_);
  return true;
}

bool Shrinking::fails_without_lower_limit(const FailingRun& candidate) const {
  const bool is_cut_off = candidate.run.result.outcome == sim::Outcome::step_limit &&
                          candidate.scenario->simulation.step_limit < found_step_limit_;
  if (!is_cut_off) return true;
  const std::unique_ptr<Scenario> longer = candidate.scenario->clone();
  longer->simulation.step_limit = found_step_limit_;
  ScriptedStrategy strategy(answers_of(candidate.choices));
  return trial_(*longer, strategy).has_value();
}

// Tries the recorded answers first as long as they are valid, because the removed part is often
// irrelevant.
bool Shrinking::attempt(const Scenario& candidate) {
  if (candidate.simulation == best().simulation && candidate.to_json() == best().to_json()) {
    return false;
  }
  const std::uint64_t most_steps = 2 * best_.run.result.steps;
  const std::unique_ptr<Scenario> scenario = candidate.clone();
  scenario->simulation.step_limit = std::min(scenario->simulation.step_limit, most_steps + 1'000);
  ScriptedStrategy scripted(answers_of(best_.choices), 1);
  if (accept(*scenario, scripted, most_steps)) return true;
  for (std::uint64_t seed = 1; seed <= options_.tries && !is_time_over(); ++seed) {
    if (accept(*scenario, *make_seeded_strategy(*scenario, seed), most_steps)) return true;
  }
  return false;
}

// Finds the shortest prefix that still fails when every answer after it is neutral, by bisection.
void Shrinking::truncate() {
  std::size_t least = 0;
  std::size_t most = best_.choices.size();
  const std::vector<std::uint64_t> answers = answers_of(best_.choices);
  while (least < most && !is_time_over()) {
    const std::size_t middle = (least + most) / 2;
    ScriptedStrategy strategy(
        {answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(middle)});
    if (accept(*best_.scenario, strategy, best_.run.result.steps)) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
}

// Makes parts of the schedule neutral, long ones first.
void Shrinking::clear_answers() {
  for (std::size_t length = best_.choices.size() / 2; length > 0; length /= 2) {
    for (std::size_t begin = 0; begin < best_.choices.size() && !is_time_over(); begin += length) {
      std::vector<std::uint64_t> answers = answers_of(best_.choices);
      bool changes = false;
      for (std::size_t index = begin; index < std::min(begin + length, answers.size()); ++index) {
        const sim::Choice& choice = best_.choices[index];
        if (is_neutral(choice)) continue;
        changes = true;
        answers[index] = neutral_answer(choice.kind, choice.bound);
      }
      if (!changes) continue;
      ScriptedStrategy strategy(std::move(answers));
      accept(*best_.scenario, strategy, best_.run.result.steps);
    }
  }
}

// A schedule that fails again with the same answers does not count as shorter; otherwise, this loop
// might never end.
bool Shrinking::shorten_schedule() {
  const auto size = [&] {
    return std::pair(best_.run.result.steps,
                     std::ranges::count_if(best_.choices, std::not_fn(is_neutral)));
  };
  const auto size_before = size();
  truncate();
  clear_answers();
  return size() < size_before;
}

// A scenario with fewer parts was accepted with the first schedule that failed, which may be longer
// than the recorded one.
void Shrinking::find_shorter_schedule() {
  for (std::uint64_t seed = 1; seed <= options_.tries && !is_time_over(); ++seed) {
    accept(best(), *make_seeded_strategy(best(), seed), best_.run.result.steps - 1);
  }
}

FailingRun Shrinking::run() {
  while (!is_time_over() && best().clone()->simplify(*this)) continue;
  end_ += options_.seconds / 4;  // reserves some time for the schedule
  find_shorter_schedule();
  while (!is_time_over() && shorten_schedule()) continue;
  return std::move(best_);
}

}  // namespace

FailingRun shrink(Runner& runner, FailingRun failing, const std::string& property,
                  const ShrinkOptions& options,
                  const std::function<void(const FailingRun&)>& progress) {
  FALAFEL_ASSERT(failing.run.violates(property), "the run to shrink does not violate {}", property);
  failing.run.put_first(property);
  return Shrinking(violation_trial(runner, property), std::move(failing), options, progress).run();
}

std::optional<FailingRun> shrink_crash(const Program& program, const Scenario& scenario,
                                       sim::Strategy& strategy, const ShrinkOptions& options,
                                       const std::function<void(const FailingRun&)>& progress) {
  constexpr double recording_patience_seconds = 60;
  constexpr double trial_patience_seconds = 2;  // schedules normally take milliseconds
  auto crash = record_crash(program, scenario, strategy, recording_patience_seconds);
  if (!crash) return std::nullopt;
  const std::string fingerprint = crash->fingerprint;
  return Shrinking(crash_trial(program, fingerprint, trial_patience_seconds),
                   to_failing_run(scenario, std::move(*crash)), options, progress)
      .run();
}

}  // namespace falafel::explorer
