#include "explorer/replay.h"

#include <fmt/format.h>

#include <utility>

#include "falafel_build_identity.h"

namespace falafel::explorer {

sim::ReplayFile to_replay_file(const Program& program, const FailingRun& failing) {
  nlohmann::json options = failing.scenario->to_json();
  const auto& violations = failing.run.violations;
  options["property"] = violations.empty() ? "" : violations.front().property;
  options["explanation"] = violations.empty() ? "" : violations.front().explanation;
  return {.scenario = std::string(program.name()),
          .scenario_options = std::move(options),
          .options = failing.scenario->simulation,
          .choices = failing.choices,
          .trace_hash = failing.run.result.trace_hash,
          .build_identity = std::string(build::identity)};
}

bool LoadedReplay::matches(const Run& run) const {
  return run.result.outcome != sim::Outcome::diverged && run.result.trace_hash == file.trace_hash;
}

tl::expected<LoadedReplay, std::string> load_replay(const Program& program,
                                                    const std::string& path) {
  auto file = sim::load_replay_file(path);
  if (!file) return tl::unexpected(file.error());
  if (file->scenario != program.name()) {
    return tl::unexpected(
        fmt::format("{}: recorded by another program for the scenario \"{}\"; only "
                    "\"{}\" can be replayed here",
                    path, file->scenario, program.name()));
  }
  auto scenario = program.parse(file->scenario_options);
  if (!scenario) return tl::unexpected(fmt::format("{}: {}", path, scenario.error()));
  (*scenario)->simulation = file->options;
  const auto property = file->scenario_options.find("property");
  std::string name = property != file->scenario_options.end() && property->is_string()
                         ? property->get<std::string>()
                         : "";
  return LoadedReplay{
      .file = std::move(*file), .scenario = std::move(*scenario), .property = std::move(name)};
}

}  // namespace falafel::explorer
