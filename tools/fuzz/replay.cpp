#include "tools/fuzz/replay.h"

#include <fmt/format.h>

#include "falafel_build_identity.h"

namespace falafel::fuzz {

sim::ReplayFile to_replay_file(const FailingRun& failing) {
  nlohmann::json options = to_json(failing.scenario);
  const auto& violations = failing.run.violations;
  options["property"] = violations.empty() ? "" : violations.front().property;
  options["explanation"] = violations.empty() ? "" : violations.front().explanation;
  return {.scenario = std::string(scenario_name),
          .scenario_options = std::move(options),
          .options = failing.scenario.simulation,
          .choices = failing.choices,
          .trace_hash = failing.run.result.trace_hash,
          .build_identity = std::string(build::identity)};
}

tl::expected<LoadedReplay, std::string> load_replay(const std::string& path) {
  auto file = sim::load_replay_file(path);
  if (!file) return tl::unexpected(file.error());
  if (file->scenario != scenario_name) {
    return tl::unexpected(
        fmt::format("{}: recorded by another program, of the scenario \"{}\"; only "
                    "\"{}\" can be replayed here",
                    path, file->scenario, scenario_name));
  }
  auto scenario = parse_scenario(file->scenario_options);
  if (!scenario) return tl::unexpected(fmt::format("{}: {}", path, scenario.error()));
  scenario->simulation = file->options;
  const auto property = file->scenario_options.find("property");
  std::string name = property != file->scenario_options.end() && property->is_string()
                         ? property->get<std::string>()
                         : "";
  return LoadedReplay{
      .file = std::move(*file), .scenario = std::move(*scenario), .property = std::move(name)};
}

}  // namespace falafel::fuzz
