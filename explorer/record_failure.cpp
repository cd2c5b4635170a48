#include "explorer/record_failure.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "explorer/child_text.h"
#include "explorer/crash_recorder.h"
#include "explorer/replay.h"
#include "explorer/wall_clock.h"

namespace falafel::explorer {
namespace {

using Progress = std::function<void(const FailingRun&)>;

// Saves runs and writes a line about each.
class Saver {
 public:
  Saver(const Program& program, const std::string& path, const WriteText& write)
      : program_(program), path_(path), write_(write) {}

  void save(const FailingRun& failing) const {
    const auto saved = sim::save_replay_file(to_replay_file(program_, failing), path_);
    const nlohmann::json line =
        saved ? nlohmann::json{{"steps", failing.run.result.steps},
                               {"explanation", failing.run.violations.front().explanation}}
              : nlohmann::json{{"error", saved.error()}};
    write_(line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n");
  }

 private:
  const Program& program_;
  const std::string& path_;
  const WriteText& write_;
};

// Saves the run whenever it got smaller and some time has passed, so that a crash loses little.
void shrink_and_save(Runner& runner, FailingRun failing, const std::string& property,
                     const ShrinkOptions& options, const Saver& saver, const Progress& progress) {
  constexpr double save_interval_seconds = 0.5;
  saver.save(failing);
  if (options.seconds <= 0) return;
  double last_saved = now_seconds();
  const auto on_smaller = [&](const FailingRun& smaller) {
    progress(smaller);
    if (now_seconds() - last_saved < save_interval_seconds) return;
    saver.save(smaller);
    last_saved = now_seconds();
  };
  saver.save(shrink(runner, std::move(failing), property, options, on_smaller));
}

void shrink_violation(const Program& program, const Finding& finding, const ShrinkOptions& options,
                      const Saver& saver, const Progress& progress) {
  const auto runner = program.create_runner();
  const auto scenario = program.draw(finding.seed);
  FailingRun failing =
      record(*runner, *scenario, *make_seeded_strategy(*scenario, finding.seed, runner.get()));
  if (!failing.run.violates(finding.property)) return;
  failing.run.put_first(finding.property);
  shrink_and_save(*runner, std::move(failing), finding.property, options, saver, progress);
}

// If the strategy needs an earlier run, that one may be the run that crashes.
std::optional<FailingRun> shrink_crash_of_seed(const Program& program, std::uint64_t seed,
                                               const ShrinkOptions& options,
                                               const Progress& progress) {
  const auto scenario = program.draw(seed);
  if (scenario->simulation.strategy == sim::StrategyKind::urw) {
    sim::StepCounter counter = make_step_counter(seed);
    auto failing = shrink_crash(program, *scenario, counter, options, progress);
    if (failing) return failing;
  }
  const auto runner = program.create_runner();
  return shrink_crash(program, *scenario, *make_seeded_strategy(*scenario, seed, runner.get()),
                      options, progress);
}

void record_crashed(const Program& program, const Finding& finding, const ShrinkOptions& options,
                    const Saver& saver, const Progress& progress) {
  const auto failing = shrink_crash_of_seed(program, finding.seed, options, progress);
  if (failing) saver.save(*failing);
}

// The last complete line counts. Without one, the error is `nothing_recorded`.
tl::expected<RecordedFailure, std::string> read_lines(const std::string& text,
                                                      std::string nothing_recorded) {
  tl::expected<RecordedFailure, std::string> recorded = tl::unexpected(std::move(nothing_recorded));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded()) break;
    if (json.contains("error")) return tl::unexpected(json["error"].get<std::string>());
    recorded = RecordedFailure{.steps = json["steps"], .explanation = json["explanation"]};
  }
  return recorded;
}

// Lets `record` save a file as `path`, in a child process, and returns its text.
std::string record_in_child(const Program& program, const ShrinkOptions& options,
                            const std::string& path,
                            const std::function<void(const Saver&)>& record) {
  constexpr double slack_seconds = 300;  // beyond the time for shrinking
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return text_of_child(2 * options.seconds + slack_seconds, StandardError::shown,
                       [&](const WriteText& write) { record(Saver(program, path, write)); });
}

}  // namespace

bool ends_the_process(std::string_view property) {
  return property == crash_property || property == hang_property;
}

tl::expected<RecordedFailure, std::string> record_failure(const Program& program,
                                                          const Finding& finding,
                                                          const ShrinkOptions& options,
                                                          const std::string& path,
                                                          const Progress& progress) {
  const bool crashes = ends_the_process(finding.property);
  const std::string text = record_in_child(program, options, path, [&](const Saver& saver) {
    (crashes ? record_crashed : shrink_violation)(program, finding, options, saver, progress);
  });
  return read_lines(text, fmt::format("a second run with seed {} does not violate {}", finding.seed,
                                      finding.property));
}

tl::expected<RecordedFailure, std::string> record_failure(const Program& program,
                                                          const FailingRun& failing,
                                                          const ShrinkOptions& options,
                                                          const std::string& path,
                                                          const Progress& progress) {
  const std::string property = failing.run.property();
  const std::string text = record_in_child(program, options, path, [&](const Saver& saver) {
    shrink_and_save(*program.create_runner(), failing, property, options, saver, progress);
  });
  return read_lines(text, fmt::format("the violation of {} could not be recorded", property));
}

}  // namespace falafel::explorer
