#include "tools/fuzz/shrink.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "fabric/sim/strategies/make_strategy.h"
#include "tools/fuzz/crash_recorder.h"
#include "tools/fuzz/scripted_strategy.h"
#include "tools/fuzz/simplifications.h"
#include "tools/fuzz/tag_world.h"
#include "tools/fuzz/worker.h"

namespace falafel::fuzz {
namespace {

std::vector<std::uint64_t> answers_of(const std::vector<sim::Choice>& choices) {
  std::vector<std::uint64_t> answers;
  answers.reserve(choices.size());
  for (const sim::Choice& choice : choices) answers.push_back(choice.value);
  return answers;
}

// What may be any 64 bits has no neutral answer, and is left as it is.
bool is_neutral(const sim::Choice& choice) {
  return choice.bound == 0 || choice.value == neutral_answer(choice.kind, choice.bound);
}

bool violates(const StoreRun& run, const std::string& property) {
  return std::ranges::any_of(run.violations, [&](const checkers::Judgement& violation) {
    return violation.property == property;
  });
}

// The violation that is shrunk comes first.
void put_first(StoreRun& run, const std::string& property) {
  std::stable_partition(
      run.violations.begin(), run.violations.end(),
      [&](const checkers::Judgement& violation) { return violation.property == property; });
}

// Runs a schedule. Nothing if it does not fail in the way that is looked for.
using Trial = std::function<std::optional<FailingRun>(const Scenario&, sim::Strategy&)>;

Trial violation_trial(Runner& runner, const std::string& property, bool paranoid) {
  return [&runner, property, paranoid](const Scenario& scenario,
                                       sim::Strategy& strategy) -> std::optional<FailingRun> {
    FailingRun failing = record(runner, scenario, strategy, {.paranoid = paranoid});
    if (!violates(failing.run, property)) return std::nullopt;
    put_first(failing.run, property);
    return failing;
  };
}

FailingRun to_failing_run(const Scenario& scenario, RecordedCrash crash) {
  FailingRun failing{.scenario = scenario, .choices = std::move(crash.choices), .run = {}};
  failing.run.result.steps = crash.steps;
  failing.run.violations.push_back({.verdict = checkers::Verdict::violated,
                                    .property = std::string(crash.property),
                                    .explanation = std::move(crash.explanation)});
  return failing;
}

Trial crash_trial(const std::string& fingerprint, double patience_seconds) {
  return [=](const Scenario& scenario, sim::Strategy& strategy) -> std::optional<FailingRun> {
    auto crash = record_crash(scenario, strategy, patience_seconds);
    if (!crash || crash->fingerprint != fingerprint) return std::nullopt;
    return to_failing_run(scenario, std::move(*crash));
  };
}

class Shrinking {
 public:
  Shrinking(Trial trial, FailingRun failing, const ShrinkOptions& options,
            const std::function<void(const FailingRun&)>& progress)
      : trial_(std::move(trial)),
        options_(options),
        progress_(progress),
        best_(std::move(failing)),
        end_(now_seconds() + options.seconds) {}

  FailingRun run();

 private:
  bool is_time_over() const { return now_seconds() > end_; }
  // Each returns whether it made the run simpler.
  bool simplify_scenario();
  bool attempt(const Simplification& simplify);
  bool remove_clients();
  bool remove_operations();
  bool simplify_features();
  bool shorten_schedule();
  void truncate();
  void clear_answers();
  bool accept(const Scenario& scenario, sim::Strategy& strategy, std::uint64_t most_steps);

  Trial trial_;
  const ShrinkOptions& options_;
  const std::function<void(const FailingRun&)>& progress_;
  FailingRun best_;
  double end_;
};

bool Shrinking::accept(const Scenario& scenario, sim::Strategy& strategy,
                       std::uint64_t most_steps) {
  std::optional<FailingRun> candidate = trial_(scenario, strategy);
  if (!candidate || candidate->run.result.steps > most_steps) return false;
  best_ = std::move(*candidate);
  progress_(best_);
  return true;
}

// The recorded answers first, as far as they fit: what was taken away is often not what mattered.
bool Shrinking::attempt(const Simplification& simplify) {
  Scenario scenario = best_.scenario;
  simplify(scenario);
  if (to_json(scenario) == to_json(best_.scenario) &&
      scenario.simulation == best_.scenario.simulation) {
    return false;
  }
  // What fails because a tag came round that should not, fails for another reason.
  if (do_tags_outlast_operations(best_.scenario) && !do_tags_outlast_operations(scenario)) {
    return false;
  }
  scenario.simulation.step_limit =
      std::min(scenario.simulation.step_limit, 2 * best_.run.result.steps + 1'000);
  const std::uint64_t most_steps = 2 * best_.run.result.steps;
  ScriptedStrategy scripted(answers_of(best_.choices), 1);
  if (accept(scenario, scripted, most_steps)) return true;
  for (std::uint64_t seed = 1; seed <= options_.tries && !is_time_over(); ++seed) {
    if (accept(scenario, *sim::make_strategy(scenario.simulation, seed), most_steps)) return true;
  }
  return false;
}

bool Shrinking::remove_clients() {
  bool simpler = false;
  for (std::size_t client = best_.scenario.clients.size(); client-- > 0 && !is_time_over();) {
    if (best_.scenario.clients.size() == 1) break;
    simpler |= attempt([client](Scenario& scenario) {
      scenario.clients.erase(scenario.clients.begin() + static_cast<std::ptrdiff_t>(client));
    });
  }
  return simpler;
}

// Halves of a client's operations, then quarters, down to single ones.
bool Shrinking::remove_operations() {
  bool simpler = false;
  for (std::size_t client = 0; client < best_.scenario.clients.size(); ++client) {
    const auto count = [&] { return best_.scenario.clients[client].operations.size(); };
    for (std::size_t length = std::max<std::size_t>(count() / 2, 1); length > 0; length /= 2) {
      for (std::size_t end = count(); end > 0 && !is_time_over();) {
        const std::size_t begin = end - std::min(end, length);
        const bool removed = attempt([&](Scenario& scenario) {
          auto& operations = scenario.clients[client].operations;
          operations.erase(operations.begin() + static_cast<std::ptrdiff_t>(begin),
                           operations.begin() + static_cast<std::ptrdiff_t>(end));
        });
        simpler |= removed;
        end = begin;
      }
    }
  }
  return simpler;
}

bool Shrinking::simplify_features() {
  bool simpler = false;
  for (const Simplification& simplify : simplifications()) {
    if (is_time_over()) break;
    simpler |= attempt(simplify);
  }
  return simpler;
}

bool Shrinking::simplify_scenario() {
  const bool fewer_clients = remove_clients();
  const bool fewer_operations = remove_operations();
  const bool fewer_features = simplify_features();
  return fewer_clients || fewer_operations || fewer_features;
}

// The shortest prefix that still fails when everything behind it is neutral, by halving.
void Shrinking::truncate() {
  std::size_t least = 0;
  std::size_t most = best_.choices.size();
  const std::vector<std::uint64_t> answers = answers_of(best_.choices);
  while (least < most && !is_time_over()) {
    const std::size_t middle = (least + most) / 2;
    ScriptedStrategy strategy(
        {answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(middle)});
    if (accept(best_.scenario, strategy, best_.run.result.steps)) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
}

// Pieces of the schedule, long ones first, become neutral.
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
      accept(best_.scenario, strategy, best_.run.result.steps);
    }
  }
}

// A schedule that fails again with the same answers is no shorter, or this would go on for ever.
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

FailingRun Shrinking::run() {
  while (!is_time_over() && simplify_scenario()) continue;
  end_ += options_.seconds / 4;  // in any case, some time for the schedule
  while (!is_time_over() && shorten_schedule()) continue;
  return std::move(best_);
}

}  // namespace

FailingRun record(Runner& runner, const Scenario& scenario, sim::Strategy& strategy,
                  const RunOptions& options) {
  sim::RecordingStrategy recording(strategy);
  StoreRun run = runner.run(scenario, recording, options);
  return {.scenario = scenario, .choices = recording.choices(), .run = std::move(run)};
}

FailingRun shrink(Runner& runner, FailingRun failing, const std::string& property,
                  const ShrinkOptions& options,
                  const std::function<void(const FailingRun&)>& progress) {
  FALAFEL_ASSERT(violates(failing.run, property), "a run that does not violate {}", property);
  put_first(failing.run, property);
  return Shrinking(violation_trial(runner, property, options.paranoid), std::move(failing), options,
                   progress)
      .run();
}

std::optional<FailingRun> shrink_crash(const Scenario& scenario, sim::Strategy& strategy,
                                       const ShrinkOptions& options,
                                       const std::function<void(const FailingRun&)>& progress) {
  constexpr double recording_patience_seconds = 60;
  constexpr double trial_patience_seconds = 2;  // a schedule takes milliseconds
  auto crash = record_crash(scenario, strategy, recording_patience_seconds);
  if (!crash) return std::nullopt;
  const std::string fingerprint = crash->fingerprint;
  return Shrinking(crash_trial(fingerprint, trial_patience_seconds),
                   to_failing_run(scenario, std::move(*crash)), options, progress)
      .run();
}

std::size_t find_critical_choice(Runner& runner, const FailingRun& failing, std::uint64_t tries) {
  const std::vector<std::uint64_t> answers = answers_of(failing.choices);
  const std::string property = failing.run.property();
  const auto cannot_be_avoided = [&](std::size_t prefix) {
    for (std::uint64_t seed = 1; seed <= tries; ++seed) {
      ScriptedStrategy strategy(
          {answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(prefix)}, seed);
      if (!violates(runner.run(failing.scenario, strategy), property)) return false;
    }
    return true;
  };
  std::size_t least = 0;
  std::size_t most = answers.size();
  while (least < most) {
    const std::size_t middle = (least + most) / 2;
    if (cannot_be_avoided(middle)) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  return least == 0 ? 0 : least - 1;
}

}  // namespace falafel::fuzz
