// `prove`: runs a scenario of a program with all schedules that differ, instead of with some that
// are drawn at random (docs/exhaustive.md).
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "explorer/commands/commands.h"
#include "explorer/commands/progress.h"
#include "explorer/exhaustive/exhaustive.h"
#include "explorer/exhaustive/jobs.h"
#include "explorer/record_failure.h"
#include "explorer/replay.h"
#include "processes/termination_signals.h"

namespace falafel::command_line {
namespace {

constexpr int status_stopped = 4;

struct ProveOptions {
  explorer::ExhaustiveOptions exploration;
  std::uint64_t seed = 1;
  std::string replay;  // a file; empty: the scenario of the seed
  std::uint64_t steps = 10'000;
  bool iterates = false;
  unsigned jobs = 0;  // 0: this process
  std::string checkpoint;
  double shrink_seconds = 40;
  std::string output = ".";
  bool json = false;
};

// A scenario and the program that runs it.
struct Subject {
  std::unique_ptr<explorer::Program> created;  // null if the scenario comes from a file
  const explorer::Program* program = nullptr;
  std::unique_ptr<explorer::Scenario> scenario;
};

// A violation for the report.
struct Violation {
  checkers::Judgement judgement;
  std::string replay_path;  // empty: it could not be written
  std::uint64_t steps_before = 0;
  std::uint64_t steps_after = 0;
};

// Without --max-faults, no fault strikes but those that unreliable connections always suffer.
void remove_faults(sim::SimulationOptions& simulation) {
  for (std::size_t index = 0; index < sim::fault_kind_count; ++index) {
    const auto kind = static_cast<sim::FaultKind>(index);
    const bool stays =
        kind == sim::FaultKind::unreliable_loss || kind == sim::FaultKind::datagram_reordering;
    if (!stays) simulation.set_fault_rate(kind, 0);
  }
}

// The scenario as it is explored.
tl::expected<void, std::string> prepare(const ProveOptions& options,
                                        sim::SimulationOptions& simulation) {
  simulation.step_limit = options.steps;
  simulation.last_fault_step = std::numeric_limits<std::uint64_t>::max();
  simulation.max_chosen_faults = 0;
  if (!options.exploration.max_faults) remove_faults(simulation);
  const auto prepared =
      explorer::options_for_exploration(simulation, options.exploration.max_faults);
  if (!prepared) return tl::unexpected(prepared.error());
  simulation = *prepared;
  return {};
}

tl::expected<Subject, std::string> find_subject(const CommandProgram& command,
                                                const ProveOptions& options) {
  Subject subject;
  if (options.replay.empty()) {
    auto program = command.create();
    if (!program) return tl::unexpected(program.error());
    subject.created = std::move(*program);
    subject.program = subject.created.get();
    subject.scenario = subject.program->draw_for_proof(options.seed);
  } else {
    subject.program = &program_of_replay(command, options.replay);
    const auto replay = explorer::load_replay(*subject.program, options.replay);
    if (!replay) return tl::unexpected(replay.error());
    subject.scenario = replay->scenario->clone();
  }
  const auto prepared = prepare(options, subject.scenario->simulation);
  if (!prepared) return tl::unexpected(prepared.error());
  return subject;
}

void print_exploration(const explorer::ExhaustiveResult& result) {
  if (isatty(STDERR_FILENO) == 0) return;
  const auto runs = static_cast<double>(result.executions + result.redundant);
  fmt::print(stderr, "\r{} executions, {} redundant, {:.0f}/s, {}   ", result.executions,
             result.redundant, runs / std::max(result.seconds, 0.001), result.describe_share());
}

// Shrinks and saves the run of a violation.
Violation record(const Subject& subject, const ProveOptions& options,
                 const explorer::FailingRun& failing) {
  Violation violation{.judgement = failing.run.violations.front(),
                      .replay_path = {},
                      .steps_before = failing.run.result.steps};
  const std::string path = (std::filesystem::path(options.output) /
                            fmt::format("{}-exhaustive.replay", violation.judgement.property))
                               .string();
  const auto recorded = explorer::record_failure(
      *subject.program, failing, {.seconds = options.shrink_seconds}, path, print_shrinking);
  if (!recorded) {
    fmt::print(stderr, "{}\n", recorded.error());
    return violation;
  }
  violation.replay_path = path;
  violation.steps_after = recorded->steps;
  return violation;
}

// A complete exploration has seen all that can happen, so conditions that no run reached cannot be
// reached.
std::vector<std::string> missed_conditions(const Subject& subject,
                                           const explorer::ExhaustiveResult& result) {
  std::vector<std::string> missed;
  if (result.coverage != explorer::Coverage::complete || result.violation) return missed;
  for (const auto& [name, count] : subject.program->conditions()) {
    if (count == 0 && !result.earlier_conditions.contains(name)) missed.push_back(name);
  }
  return missed;
}

void print_result(const explorer::ExhaustiveResult& result) {
  fmt::print("{}: {} executions, {} redundant, {} cut off, {} not judged, {} steps in {:.1f} s\n",
             result.describe_coverage(), result.executions, result.redundant, result.cut_off,
             result.unknown, result.steps, result.seconds);
  const bool is_interrupted = result.coverage == explorer::Coverage::stopped && !result.violation;
  if (is_interrupted) fmt::print("{} was explored\n", result.describe_share());
  fmt::print("{}", result.describe_limits());
  std::fflush(stdout);
}

tl::expected<explorer::ExhaustiveResult, std::string> explore_once(
    const Subject& subject, const ProveOptions& options,
    const explorer::ExhaustiveOptions& exploration) {
  if (options.jobs == 0 && options.checkpoint.empty()) {
    return explorer::explore_exhaustively(*subject.program, *subject.scenario, exploration);
  }
  processes::TerminationSignals signals;
  return explorer::explore_in_jobs(*subject.program, *subject.scenario, exploration,
                                   {.jobs = std::max(options.jobs, 1U),
                                    .checkpoint = options.checkpoint,
                                    .should_stop = [&] { return signals.arrived(); }});
}

// Explores with 0, 1, 2, ... preemptions until the bound keeps nothing out, if asked to.
tl::expected<explorer::ExhaustiveResult, std::string> explore(const Subject& subject,
                                                              const ProveOptions& options) {
  explorer::ExhaustiveOptions exploration = options.exploration;
  exploration.progress = print_exploration;
  if (options.iterates) exploration.max_preemptions = 0;
  for (;;) {
    auto explored = explore_once(subject, options, exploration);
    if (!explored) return explored;
    const explorer::ExhaustiveResult& result = *explored;
    if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\n");
    if (!options.json) print_result(result);
    if (!options.iterates || !result.bounds_preemptions || !result.is_complete_up_to_bounds()) {
      return explored;
    }
    ++*exploration.max_preemptions;
    exploration.max_seconds -= result.seconds;
    exploration.max_executions -= result.executions + result.redundant;
  }
}

nlohmann::json to_json(const explorer::ExhaustiveResult& result,
                       const std::optional<Violation>& violation,
                       const std::vector<std::string>& missed) {
  nlohmann::json violations = nlohmann::json::array();
  if (violation) {
    violations.push_back({{"property", violation->judgement.property},
                          {"explanation", violation->judgement.explanation},
                          {"replay", violation->replay_path},
                          {"steps_before", violation->steps_before},
                          {"steps_after", violation->steps_after}});
  }
  return {{"coverage", result.describe_coverage()},
          {"is_complete", result.coverage == explorer::Coverage::complete},
          {"executions", result.executions},
          {"redundant", result.redundant},
          {"cut_off", result.cut_off},
          {"unknown", result.unknown},
          {"steps", result.steps},
          {"seconds", result.seconds},
          {"explored_share", result.explored_share},
          {"assumptions", result.assumptions},
          {"deadlines", result.deadlines},
          {"violations", std::move(violations)},
          {"missed_conditions", missed}};
}

void print_end(const CommandProgram& command, const explorer::ExhaustiveResult& result,
               const std::optional<Violation>& violation, const std::vector<std::string>& missed) {
  for (const std::string& name : missed) {
    fmt::print("VIOLATED sometimes: no run can reach the condition \"{}\"\n", name);
  }
  if (!violation) {
    if (missed.empty() && result.is_complete_up_to_bounds()) fmt::print("all properties hold\n");
    return;
  }
  fmt::print("\nVIOLATED {}: {}\n{} steps, {} after shrinking. Replay it with:\n  {} replay {}\n",
             violation->judgement.property, violation->judgement.explanation,
             violation->steps_before, violation->steps_after, command.executable(),
             violation->replay_path);
}

int prove(const CommandProgram& command, const ProveOptions& options) {
  const auto subject = find_subject(command, options);
  if (!subject) {
    fmt::print(stderr, "{}\n", subject.error());
    return 2;
  }
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  if (error) {
    fmt::print(stderr, "--output {}: {}\n", options.output, error.message());
    return 2;
  }
  if (!options.json) {
    fmt::print("{}\n{}",
               options.replay.empty() ? fmt::format("seed {} chooses", options.seed)
                                      : fmt::format("{} has", options.replay),
               subject->scenario->describe());
    std::fflush(stdout);
  }
  const auto explored = explore(*subject, options);
  if (!explored) {
    fmt::print(stderr, "{}\n", explored.error());
    return 2;
  }
  const explorer::ExhaustiveResult& result = *explored;
  std::optional<Violation> violation;
  if (result.violation) violation = record(*subject, options, *result.violation);
  const std::vector<std::string> missed = missed_conditions(*subject, result);
  if (options.json) {
    fmt::print("{}\n", to_json(result, violation, missed)
                           .dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
  } else {
    print_end(command, result, violation, missed);
    if (!options.checkpoint.empty() && !result.is_complete_up_to_bounds() && !violation) {
      fmt::print("the same command goes on from {}\n", options.checkpoint);
    }
  }
  if (violation || !missed.empty()) return 1;
  if (result.coverage == explorer::Coverage::empty) {
    fmt::print(stderr, "{}\n", explorer::explain_emptiness());
    return 2;
  }
  if (!result.crash.empty()) {
    fmt::print(stderr, "a run crashed in {}\n", result.crash);
    return 3;
  }
  return result.is_complete_up_to_bounds() ? 0 : status_stopped;
}

void add_bounds(CLI::App& command, ProveOptions& options) {
  explorer::ExhaustiveOptions& exploration = options.exploration;
  CLI::Option* preemptions =
      command.add_option("--preemptions", exploration.max_preemptions,
                         "only schedules that preempt an actor at most so often");
  CLI::Option* iterate =
      command
          .add_flag("--iterate", options.iterates,
                    "at most 0 preemptions, then 1, 2 and so on, until these are all schedules")
          ->excludes(preemptions);
  command
      .add_option("--max-faults", exploration.max_faults,
                  "at most so many faults strike, of the kinds that the scenario has, each at any "
                  "step (default: no faults)")
      ->check(CLI::Range(1, 1'000));
  command.add_option("--steps", options.steps, "runs are cut off after so many steps")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  command
      .add_option("--explored-from", exploration.explored_from_ns,
                  "choices before this time, in nanoseconds, are fixed")
      ->capture_default_str();
  command.add_option("--seconds", exploration.max_seconds, "time limit in seconds");
  command.add_option("--executions", exploration.max_executions, "limit of executions");
  CLI::Option* plain =
      command.add_flag("--without-reduction", exploration.without_reduction,
                       "run all schedules instead of those that differ, for comparison");
  CLI::Option* jobs =
      command.add_option("--jobs", options.jobs, "number of processes that share the schedules")
          ->check(CLI::Range(1, 1'024));
  CLI::Option* checkpoint =
      command.add_option("--checkpoint", options.checkpoint,
                         "a file with what is finished, from which the same command "
                         "goes on after a signal or a limit");
  for (CLI::Option* option : {jobs, checkpoint}) {
    option->excludes(plain)->excludes(preemptions)->excludes(iterate);
  }
}

}  // namespace

void add_prove_command(CLI::App& app, CommandProgram& program, int& exit_status) {
  CLI::App* command = app.add_subcommand(
      "prove", fmt::format("run a small scenario of {} on the simulator with all schedules that "
                           "differ, and check each one",
                           program.noun()));
  const auto options = std::make_shared<ProveOptions>();
  program.add_fuzz_options(*command);
  CLI::Option* seed = command->add_option("--seed", options->seed, "the seed of the scenario")
                          ->capture_default_str();
  command->add_option("--replay", options->replay, "the scenario of this replay file")
      ->excludes(seed);
  add_bounds(*command, *options);
  command
      ->add_option("--shrink-seconds", options->shrink_seconds,
                   "time limit for shrinking a violation; 0: do not shrink")
      ->capture_default_str();
  command->add_option("--output", options->output, "directory for replay files")
      ->capture_default_str();
  command->add_flag("--json", options->json, "print the result as one JSON object");
  command->callback([options, &program, &exit_status] { exit_status = prove(program, *options); });
}

}  // namespace falafel::command_line
