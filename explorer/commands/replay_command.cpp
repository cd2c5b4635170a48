// `replay`: repeats a recorded schedule and explains it step by step.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "explorer/commands/commands.h"
#include "explorer/commands/divergence.h"
#include "explorer/explain.h"
#include "explorer/replay.h"

namespace falafel::command_line {
namespace {

struct ReplayOptions {
  std::string path;
  bool quiet = false;
  std::uint64_t critical_tries = 30;
};

int replay(const CommandProgram& programs, const ReplayOptions& options) {
  constexpr double patience_seconds = 3'600;
  const explorer::Program& program = program_of_replay(programs, options.path);
  const auto replay = explorer::load_replay(program, options.path);
  if (!replay) {
    fmt::print(stderr, "{}\n", replay.error());
    return 2;
  }
  const explorer::Explanation run =
      explorer::explain(program, *replay, options.critical_tries, patience_seconds);
  if (!run.is_as_recorded) return report_divergence(options.path, *replay, run.divergence);

  if (!options.quiet) fmt::print("{}", to_text(run, false));
  fmt::print("{} choices, {} steps, trace hash {:016x}, as recorded\n", replay->file.choices.size(),
             run.steps, replay->file.trace_hash);
  for (const checkers::Judgement& violation : run.violations) {
    fmt::print("VIOLATED {}: {}\n", violation.property, violation.explanation);
  }
  if (run.critical) {
    fmt::print(
        "critical: choice {} of {}, at step {}: after it, all of {} random continuations "
        "fail too\n",
        run.critical->choice, replay->file.choices.size(), run.critical->step,
        options.critical_tries);
  }
  return run.violations.empty() ? 0 : 1;
}

}  // namespace

void add_replay_command(CLI::App& app, CommandProgram& program, int& exit_status) {
  CLI::App* command =
      app.add_subcommand("replay", "repeat a recorded schedule and explain it step by step");
  const auto options = std::make_shared<ReplayOptions>();
  command->add_option("file", options->path, "a replay file")->required();
  command->add_flag("--quiet", options->quiet, "print only the result");
  command
      ->add_option("--critical-tries", options->critical_tries,
                   "continuations to try for the critical step; 0: do not search for it")
      ->capture_default_str();
  command->callback([options, &program, &exit_status] { exit_status = replay(program, *options); });
}

}  // namespace falafel::command_line
