// `falafel shrink`: minimizes the failing run of a replay file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "explorer/replay.h"
#include "explorer/shrink.h"
#include "fabric/sim/strategies/replay_strategy.h"
#include "tools/falafel/commands.h"
#include "tools/falafel/progress.h"
#include "tools/store_scenario/program.h"
#include "tools/store_scenario/run.h"

namespace falafel::command_line {
namespace {

struct Options {
  std::string path;
  std::string output;
  double seconds = 40;
};

int shrink(const Options& options) {
  const store_scenario::StoreProgram program;
  const auto replay = explorer::load_replay(program, options.path);
  if (!replay) {
    fmt::print(stderr, "{}\n", replay.error());
    return 2;
  }
  store_scenario::Runner runner;
  sim::ReplayStrategy strategy(replay->file.choices);
  explorer::FailingRun failing{.scenario = replay->scenario,
                               .choices = replay->file.choices,
                               .run = runner.run(*replay->scenario, strategy)};
  if (!replay->matches(failing.run)) {
    fmt::print(stderr, "{}: does not fit this program any more; see falafel replay\n",
               options.path);
    return 3;
  }
  if (failing.run.violations.empty()) {
    fmt::print(stderr, "{}: violates nothing, so there is nothing to shrink\n", options.path);
    return 1;
  }
  const std::string property = failing.run.property();
  const std::uint64_t steps_before = failing.run.result.steps;
  const explorer::FailingRun small = explorer::shrink(
      runner, std::move(failing), property, {.seconds = options.seconds}, print_shrinking);
  if (const auto saved =
          sim::save_replay_file(explorer::to_replay_file(program, small), options.output);
      !saved) {
    fmt::print(stderr, "{}\n", saved.error());
    return 2;
  }
  fmt::print("{}: {} steps, {} after shrinking; written to {}\n", property, steps_before,
             small.run.result.steps, options.output);
  return 0;
}

}  // namespace

void add_shrink_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("shrink", "minimize the failing run of a replay file");
  const auto options = std::make_shared<Options>();
  command->add_option("file", options->path, "a replay file")->required();
  command->add_option("--output", options->output, "file for the minimized run")->required();
  command->add_option("--seconds", options->seconds, "time limit in seconds")
      ->capture_default_str();
  command->callback([options, &exit_status] { exit_status = shrink(*options); });
}

}  // namespace falafel::command_line
