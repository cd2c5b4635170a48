// `falafel replay`: repeats a recorded schedule and explains it step by step.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "explorer/critical_step.h"
#include "explorer/replay.h"
#include "fabric/sim/strategies/replay_strategy.h"
#include "tools/falafel/commands.h"
#include "tools/falafel/divergence.h"
#include "tools/store_scenario/program.h"
#include "tools/store_scenario/run.h"
#include "tools/store_scenario/story.h"

namespace falafel::command_line {
namespace {

struct ReplayOptions {
  std::string path;
  bool quiet = false;
  std::uint64_t critical_tries = 30;
};

void print_story(const store_scenario::StoreStory& story,
                 const std::optional<explorer::CriticalStep>& critical) {
  bool is_marked = !critical;
  for (const explorer::StoryLine& line : story.lines()) {
    if (!is_marked && line.step >= critical->step) {
      fmt::print("        ------------- the violation is inevitable from here on\n");
      is_marked = true;
    }
    fmt::print("{}\n", to_string(line));
  }
}

int replay(const ReplayOptions& options) {
  const auto replay = explorer::load_replay(store_scenario::StoreProgram(), options.path);
  if (!replay) {
    fmt::print(stderr, "{}\n", replay.error());
    return 2;
  }
  store_scenario::Runner runner;
  store_scenario::StoreStory story(store_scenario::store_scenario(*replay->scenario));
  sim::ReplayStrategy strategy(replay->file.choices);
  const explorer::Run run = runner.run(*replay->scenario, strategy, &story);
  if (!replay->matches(run)) return report_divergence(options.path, *replay, run);

  const auto critical = explorer::find_critical_step(
      runner, {.scenario = replay->scenario, .choices = replay->file.choices, .run = run},
      options.critical_tries);
  if (!options.quiet) print_story(story, critical);
  fmt::print("{} choices, {} steps, trace hash {:016x}, as recorded\n", replay->file.choices.size(),
             run.result.steps, run.result.trace_hash);
  for (const checkers::Judgement& violation : run.violations) {
    fmt::print("VIOLATED {}: {}\n", violation.property, violation.explanation);
  }
  if (critical) {
    fmt::print(
        "critical: choice {} of {}, at step {}: after it, all of {} random continuations "
        "fail too\n",
        critical->choice, replay->file.choices.size(), critical->step, options.critical_tries);
  }
  return run.violations.empty() ? 0 : 1;
}

}  // namespace

void add_replay_command(CLI::App& app, int& exit_status) {
  CLI::App* command =
      app.add_subcommand("replay", "repeat a recorded schedule and explain it step by step");
  const auto options = std::make_shared<ReplayOptions>();
  command->add_option("file", options->path, "a replay file")->required();
  command->add_flag("--quiet", options->quiet, "print only the result");
  command
      ->add_option("--critical-tries", options->critical_tries,
                   "continuations to try for the critical step; 0: do not search for it")
      ->capture_default_str();
  command->callback([options, &exit_status] { exit_status = replay(*options); });
}

}  // namespace falafel::command_line
