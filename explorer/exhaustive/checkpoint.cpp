#include "explorer/exhaustive/checkpoint.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "fabric/sim/options/options.h"
#include "falafel_build_identity.h"

namespace falafel::explorer {

nlohmann::json describe_exploration(const Program& program, const Scenario& scenario,
                                    const ExhaustiveOptions& options,
                                    std::uint64_t most_runs_of_part) {
  nlohmann::json simulation = nlohmann::json::object();
  for (const sim::OptionDescription& option : sim::option_descriptions()) {
    simulation[option.name] = option.get(scenario.simulation);
  }
  return {{"build", std::string(build::identity)},
          {"program", std::string(program.name())},
          {"scenario", scenario.to_json()},
          {"simulation", std::move(simulation)},
          {"explored_from_ns", options.explored_from_ns},
          {"explored_until_ns", options.explored_until_ns},
          {"draws_numbers", options.draws_numbers},
          {"most_runs_of_part", most_runs_of_part}};
}

namespace {

// The first entry that differs, or nothing.
std::string find_difference(const nlohmann::json& left, const nlohmann::json& right) {
  for (const auto& [name, value] : left.items()) {
    if (!right.contains(name) || right[name] != value) return name;
  }
  return {};
}

tl::expected<void, std::string> read_checkpoint(const nlohmann::json& json,
                                                Checkpoint& checkpoint) {
  const std::string difference = find_difference(checkpoint.exploration, json.at("exploration"));
  if (!difference.empty()) {
    return tl::unexpected(fmt::format("belongs to an exploration with another {}", difference));
  }
  for (const nlohmann::json& part : json.at("parts")) {
    checkpoint.parts[part.at("part").get<PartName>()] = part.at("counts").get<PartCounts>();
  }
  json.at("conditions").get_to(checkpoint.conditions);
  return {};
}

}  // namespace

tl::expected<void, std::string> load_checkpoint(const std::string& path, Checkpoint& checkpoint) {
  std::ifstream file(path);
  if (!file.is_open()) return {};
  file.peek();  // fails for a directory
  tl::expected<void, std::string> result;
  try {
    result =
        read_checkpoint(file.bad() ? nlohmann::json() : nlohmann::json::parse(file), checkpoint);
  } catch (const nlohmann::json::exception&) {
    result = tl::unexpected<std::string>("is no checkpoint");
  }
  if (!result) {
    return tl::unexpected(fmt::format("{}: {}; name another file, or remove it to start again",
                                      path, result.error()));
  }
  return {};
}

tl::expected<void, std::string> save_checkpoint(const std::string& path,
                                                const Checkpoint& checkpoint) {
  nlohmann::json parts = nlohmann::json::array();
  for (const auto& [part, counts] : checkpoint.parts) {
    parts.push_back({{"part", part}, {"counts", counts}});
  }
  const nlohmann::json json = {{"exploration", checkpoint.exploration},
                               {"parts", std::move(parts)},
                               {"conditions", checkpoint.conditions}};
  const std::string new_path = path + ".new";
  {
    std::ofstream file(new_path);
    file << json.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) << '\n';
    if (!file.flush()) return tl::unexpected(fmt::format("{}: cannot be written", new_path));
  }
  std::error_code error;
  std::filesystem::rename(new_path, path, error);
  if (error) return tl::unexpected(fmt::format("{}: {}", path, error.message()));
  return {};
}

}  // namespace falafel::explorer
