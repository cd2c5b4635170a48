// `shrink`: minimizes the failing run of a replay file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "explorer/commands/commands.h"
#include "explorer/commands/progress.h"
#include "explorer/record_failure.h"
#include "explorer/replay.h"
#include "explorer/shrink.h"
#include "fabric/sim/strategies/replay_strategy.h"

namespace falafel::command_line {
namespace {

struct ShrinkTexts {
  std::string path;
  std::string output;
  double seconds = 40;
};

int save(const explorer::Program& program, const explorer::FailingRun& small,
         std::uint64_t steps_before, const ShrinkTexts& options) {
  if (const auto saved =
          sim::save_replay_file(explorer::to_replay_file(program, small), options.output);
      !saved) {
    fmt::print(stderr, "{}\n", saved.error());
    return 2;
  }
  fmt::print("{}: {} steps, {} after shrinking; written to {}\n", small.run.property(),
             steps_before, small.run.result.steps, options.output);
  return 0;
}

// A run that crashes or hangs, in a process of its own.
int shrink_ended(const explorer::Program& program, const explorer::LoadedReplay& replay,
                 const ShrinkTexts& options) {
  std::uint64_t steps_before = 0;
  sim::ReplayStrategy strategy(replay.file.choices);
  const auto small =
      explorer::shrink_crash(program, *replay.scenario, strategy, {.seconds = options.seconds},
                             [&](const explorer::FailingRun& best) {
                               steps_before = std::max(steps_before, best.run.result.steps);
                               print_shrinking(best);
                             });
  if (!small) {
    fmt::print(stderr, "{}: does not fail any more, so there is nothing to shrink\n", options.path);
    return 1;
  }
  return save(program, *small, std::max(steps_before, small->run.result.steps), options);
}

int shrink(const CommandProgram& programs, const ShrinkTexts& options) {
  const explorer::Program& program = program_of_replay(programs, options.path);
  const auto replay = explorer::load_replay(program, options.path);
  if (!replay) {
    fmt::print(stderr, "{}\n", replay.error());
    return 2;
  }
  if (explorer::ends_the_process(replay->property)) return shrink_ended(program, *replay, options);
  const auto runner = program.create_runner();
  sim::ReplayStrategy strategy(replay->file.choices);
  explorer::FailingRun failing{.scenario = replay->scenario,
                               .choices = replay->file.choices,
                               .run = runner->run(*replay->scenario, strategy)};
  if (!replay->matches(failing.run)) {
    fmt::print(stderr, "{}: does not fit this program any more; see replay\n", options.path);
    return 3;
  }
  if (failing.run.violations.empty()) {
    fmt::print(stderr, "{}: violates nothing, so there is nothing to shrink\n", options.path);
    return 1;
  }
  const std::string property = failing.run.property();
  const std::uint64_t steps_before = failing.run.result.steps;
  const explorer::FailingRun small = explorer::shrink(
      *runner, std::move(failing), property, {.seconds = options.seconds}, print_shrinking);
  return save(program, small, steps_before, options);
}

}  // namespace

void add_shrink_command(CLI::App& app, CommandProgram& program, int& exit_status) {
  CLI::App* command = app.add_subcommand("shrink", "minimize the failing run of a replay file");
  const auto options = std::make_shared<ShrinkTexts>();
  command->add_option("file", options->path, "a replay file")->required();
  command->add_option("--output", options->output, "file for the minimized run")->required();
  command->add_option("--seconds", options->seconds, "time limit in seconds")
      ->capture_default_str();
  command->callback([options, &program, &exit_status] { exit_status = shrink(program, *options); });
}

}  // namespace falafel::command_line
