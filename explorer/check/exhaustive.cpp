#include "explorer/check/exhaustive.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "explorer/check.h"
#include "explorer/exhaustive/assumptions.h"
#include "explorer/explain.h"
#include "explorer/shrink.h"

namespace falafel::check {
namespace {

Options options_of_replay(const ExhaustiveOptions& options) {
  return {.name = options.name,
          .shrink_seconds = options.shrink_seconds,
          .critical_tries = options.critical_tries,
          .output = options.output};
}

std::unique_ptr<explorer::Scenario> make_scenario(const WorldProgram& program,
                                                  const ExhaustiveOptions& options) {
  std::unique_ptr<explorer::Scenario> scenario = program.draw_for_proof(options.seed);
  scenario->simulation = sim::SimulationOptions{};
  explorer::weaken_network(scenario->simulation);
  scenario->simulation.step_limit = options.step_limit;
  if (options.adjust) options.adjust(scenario->simulation);
  return scenario;
}

// Shrinks the failing run, records it and tells it step by step.
std::string investigate(const WorldProgram& program, const ExhaustiveOptions& options,
                        explorer::FailingRun failing, Failure& failure) {
  std::filesystem::create_directories(options.output);
  const std::string path = std::filesystem::absolute(
      std::filesystem::path(options.output) /
      fmt::format("{}-{}-exhaustive.replay", program.name(), failure.property));
  constexpr double patience_seconds = 60;  // for the critical step
  const auto runner = program.create_runner();
  const explorer::FailingRun small =
      explorer::shrink(*runner, std::move(failing), failure.property,
                       {.seconds = options.shrink_seconds}, [](const explorer::FailingRun&) {});
  const auto saved = sim::save_replay_file(explorer::to_replay_file(program, small), path);
  if (!saved) throw std::invalid_argument("ExhaustiveOptions::output: " + saved.error());
  const auto replay = explorer::load_replay(program, path);
  if (!replay) throw std::runtime_error(replay.error());
  failure.replay_path = path;
  const explorer::Explanation explanation =
      explorer::explain(program, *replay, options.critical_tries, patience_seconds);
  failure.steps_after = explanation.steps;
  return fmt::format("{} steps, {} after shrinking. The smallest run found:\n{}{}Recorded in {}\n",
                     failure.steps_before, explanation.steps, replay->scenario->describe(),
                     to_text(explanation, true), path);
}

void judge_emptiness(Proof& proof) {
  if (proof.coverage != explorer::Coverage::empty) return;
  proof.failures.push_back({.property = std::string(nothing_explored_property),
                            .explanation = explorer::explain_emptiness(),
                            .schedules = proof.schedules});
  proof.text += fmt::format("VIOLATED {}: {}\n", nothing_explored_property,
                            proof.failures.back().explanation);
}

// A complete proof has seen all that can happen.
void judge_conditions(Proof& proof) {
  if (!proof.is_complete() || !proof.holds()) return;
  for (const auto& [name, count] : proof.conditions) {
    if (count > 0) continue;
    proof.failures.push_back(
        {.property = "sometimes",
         .explanation = fmt::format("no run can reach the condition \"{}\"", name),
         .schedules = proof.schedules});
  }
}

}  // namespace

Proof prove(const WorldProgram& program, const ExhaustiveOptions& options,
            const Environment& environment) {
  Proof proof;
  if (!environment.replay.empty()) {
    static_cast<Result&>(proof) = run_campaign(program, options_of_replay(options), environment);
    return proof;
  }
  const explorer::ExhaustiveOptions exploration{.explored_from_ns = options.explored_from_ns,
                                                .max_executions = options.max_executions,
                                                .max_seconds = options.seconds,
                                                .max_faults = options.max_faults};
  auto explored =
      explorer::explore_exhaustively(program, *make_scenario(program, options), exploration);
  if (!explored) throw std::invalid_argument("ExhaustiveOptions::adjust: " + explored.error());
  proof.coverage = explored->coverage;
  proof.redundant = explored->redundant;
  proof.schedules = explored->executions;
  proof.steps = explored->steps;
  proof.unknown = explored->unknown;
  proof.seconds = explored->seconds;
  proof.conditions = program.conditions();
  proof.assumptions = explored->assumptions;
  proof.deadlines = {explored->deadlines.begin(), explored->deadlines.end()};
  proof.text =
      fmt::format("{}: {}\n{}", program.name(), explored->describe(), explored->describe_limits());
  if (explored->violation) {
    const checkers::Judgement violation = explored->violation->run.violations.front();
    proof.failures.push_back({.property = violation.property,
                              .explanation = violation.explanation,
                              .schedules = 1,
                              .steps_before = explored->violation->run.result.steps});
    proof.text += fmt::format("VIOLATED {}: {}\n", violation.property, violation.explanation);
    proof.text +=
        investigate(program, options, std::move(*explored->violation), proof.failures.front());
  }
  judge_emptiness(proof);
  judge_conditions(proof);
  return proof;
}

Proof exhaustive(const ExhaustiveOptions& options, Body body, const std::source_location& caller) {
  const WorldProgram program(name_of({.name = options.name}, caller), {}, std::move(body));
  return prove(program, options, own_environment());
}

}  // namespace falafel::check
