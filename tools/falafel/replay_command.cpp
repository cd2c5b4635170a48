#include "tools/falafel/replay_command.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "fabric/sim/replay_strategy.h"
#include "falafel_build_identity.h"
#include "tools/fuzz/replay.h"
#include "tools/fuzz/run.h"
#include "tools/fuzz/shrink.h"
#include "tools/fuzz/story.h"

namespace falafel::command_line {
namespace {

struct ReplayOptions {
  std::string path;
  bool quiet = false;
  std::uint64_t critical_tries = 30;
};

// Notes at which step a choice was asked for.
class StepOfChoice final : public sim::Strategy {
 public:
  StepOfChoice(sim::Strategy& inner, std::size_t choice) : inner_(inner), choices_left_(choice) {}

  std::uint64_t choose(const sim::ChoicePoint& point) override {
    note(point);
    return inner_.choose(point);
  }
  std::uint64_t schedule(const sim::ChoicePoint& point,
                         std::span<const sim::ActorId> actors) override {
    note(point);
    return inner_.schedule(point, actors);
  }
  const std::string* divergence() const override { return inner_.divergence(); }
  std::uint64_t step() const { return step_; }

 private:
  void note(const sim::ChoicePoint& point) {
    if (choices_left_-- == 0) step_ = point.step;
  }

  sim::Strategy& inner_;
  std::size_t choices_left_;
  std::uint64_t step_ = 0;
};

std::optional<std::size_t> find_critical(fuzz::Runner& runner, const fuzz::LoadedReplay& replay,
                                         const fuzz::StoreRun& run, std::uint64_t tries) {
  if (tries == 0 || run.violations.empty()) return std::nullopt;
  return fuzz::find_critical_choice(
      runner, {.scenario = replay.scenario, .choices = replay.file.choices, .run = run}, tries);
}

void print_story(const fuzz::Story& story, std::optional<std::uint64_t> critical_step) {
  bool is_marked = !critical_step;
  for (const fuzz::StoryLine& line : story.lines()) {
    if (!is_marked && line.step >= *critical_step) {
      fmt::print("        ------------- from here on it could not be avoided\n");
      is_marked = true;
    }
    fmt::print("{}\n", to_string(line));
  }
}

int report_divergence(const ReplayOptions& options, const fuzz::LoadedReplay& replay,
                      const fuzz::StoreRun& run) {
  fmt::print(stderr, "{}: does not fit this program any more. {}\nrecorded by {}, this is {}\n",
             options.path,
             run.result.outcome == sim::Outcome::diverged ? run.result.explanation
                                                          : "The trace hash is another one.",
             replay.file.build_identity, build::identity);
  return 3;
}

int replay(const ReplayOptions& options) {
  const auto replay = fuzz::load_replay(options.path);
  if (!replay) {
    fmt::print(stderr, "{}\n", replay.error());
    return 2;
  }
  fuzz::Runner runner;
  fuzz::Story story(replay->scenario);
  sim::ReplayStrategy strategy(replay->file.choices);
  const fuzz::StoreRun run = runner.run(replay->scenario, strategy, {.listener = &story});
  const bool fits = run.result.outcome != sim::Outcome::diverged &&
                    run.result.trace_hash == replay->file.trace_hash;
  if (!fits) return report_divergence(options, *replay, run);

  const auto critical = find_critical(runner, *replay, run, options.critical_tries);
  std::optional<std::uint64_t> critical_step;
  if (critical) {
    sim::ReplayStrategy again(replay->file.choices);
    StepOfChoice steps(again, *critical);
    runner.run(replay->scenario, steps);
    critical_step = steps.step();
  }
  if (!options.quiet) print_story(story, critical_step);
  fmt::print("{} choices, {} steps, trace hash {:016x}, as recorded\n", replay->file.choices.size(),
             run.result.steps, run.result.trace_hash);
  for (const checkers::Judgement& violation : run.violations) {
    fmt::print("VIOLATED {}: {}\n", violation.property, violation.explanation);
  }
  if (critical_step) {
    fmt::print(
        "critical: choice {} of {}, at step {}: behind it, all of {} random continuations "
        "fail too\n",
        *critical, replay->file.choices.size(), *critical_step, options.critical_tries);
  }
  return run.violations.empty() ? 0 : 1;
}

}  // namespace

void add_replay_command(CLI::App& app, int& exit_status) {
  CLI::App* command =
      app.add_subcommand("replay", "repeat a recorded schedule, and tell it step by step");
  const auto options = std::make_shared<ReplayOptions>();
  command->add_option("file", options->path, "a replay file")->required();
  command->add_flag("--quiet", options->quiet, "only the result");
  command
      ->add_option("--critical-tries", options->critical_tries,
                   "continuations to try for the critical step; 0: do not look for it")
      ->capture_default_str();
  command->callback([options, &exit_status] { exit_status = replay(*options); });
}

}  // namespace falafel::command_line
