#include "tools/falafel/campaign_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace falafel::command_line {
namespace {

std::vector<std::string> safeguard_names() {
  std::vector<std::string> names;
  names.reserve(engine::safeguard_descriptions.size());
  for (const auto& safeguard : engine::safeguard_descriptions) {
    names.emplace_back(safeguard.name);
  }
  return names;
}

std::optional<std::string> switch_off(engine::Safeguards& safeguards, const std::string& name) {
  for (const auto& safeguard : engine::safeguard_descriptions) {
    if (safeguard.name != name) continue;
    safeguards.*safeguard.enabled = false;
    return std::nullopt;
  }
  return fmt::format("--without {}: unknown safeguard; choose one of {}", name,
                     fmt::join(safeguard_names(), ", "));
}

store_scenario::Share parse_share(const std::string& text) {
  if (text == "only") return store_scenario::Share::only;
  return text == "none" ? store_scenario::Share::none : store_scenario::Share::some;
}

// The faults that can affect a store on reliable connections.
std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  names.reserve(sim::fault_kind_count);
  for (std::size_t index = 0; index < sim::fault_kind_count; ++index) {
    names.emplace_back(to_string(static_cast<sim::FaultKind>(index)));
  }
  return names;
}

tl::expected<std::vector<sim::FaultKind>, std::string> parse_faults(const std::string& text) {
  const std::vector<std::string> names = fault_names();
  std::vector<sim::FaultKind> kinds;
  std::istringstream list(text);
  for (std::string name; std::getline(list, name, ',');) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      return tl::unexpected(
          fmt::format("--faults {}: unknown fault; choose all, none, or any of {}", name,
                      fmt::join(names, ", ")));
    }
    kinds.push_back(static_cast<sim::FaultKind>(found - names.begin()));
  }
  return kinds;
}

tl::expected<std::pair<std::string, std::string>, std::string> parse_simulator_option(
    const std::string& text) {
  const std::size_t border = text.find('=');
  if (border == std::string::npos) {
    return tl::unexpected(fmt::format("--simulator {}: use the form NAME=VALUE", text));
  }
  std::pair<std::string, std::string> option(text.substr(0, border), text.substr(border + 1));
  sim::SimulationOptions scratch;
  if (auto problem = sim::set_option(scratch, option.first, option.second)) {
    return tl::unexpected(fmt::format("--simulator {}: {}", text, *problem));
  }
  return option;
}

}  // namespace

void add_campaign_options(CLI::App& command, CampaignTexts& texts) {
  command
      .add_option("--protocol", texts.protocol,
                  "hardened, or published (the thesis without additions)")
      ->check(CLI::IsMember({"hardened", "published"}))
      ->capture_default_str();
  command.add_option("--without", texts.without, "safeguard to switch off (may be repeated)");
  command.add_option("--clients", texts.clients, "number of clients (default: random)")
      ->check(CLI::Range(1, 64));
  command.add_option("--operations", texts.operations, "number of operations per client")
      ->check(CLI::Range(1, 100'000));
  command.add_option("--in-flight", texts.in_flight, "concurrent operations per client")
      ->check(CLI::Range(1, 4));
  command.add_option("--slots", texts.slots, "number of entries in the table")
      ->check(CLI::Range(1, 65'536));
  command.add_option("--keys", texts.keys, "number of keys")->check(CLI::Range(1, 1'000'000));
  command.add_option("--workload", texts.workload, "mix of operations (default: random)")
      ->check(CLI::IsMember(std::vector<std::string>(store_scenario::workload_names.begin(),
                                                     store_scenario::workload_names.end())));
  command.add_option("--strategy", texts.strategy, "random or pct (default: random choice)")
      ->check(CLI::IsMember({"random", "pct"}));
  command
      .add_option(
          "--tag-worlds", texts.tag_worlds,
          "share of scenarios in which tags wrap around and heartbeats matter: none, some or only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
  command
      .add_option("--hostile", texts.hostile,
                  "share of scenarios with a hostile client: none, some or only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
  command.add_option("--faults", texts.faults, "all, none, or a comma-separated list of faults")
      ->capture_default_str();
  command.add_option("--simulator", texts.simulator_options,
                     "option of the simulator, as NAME=VALUE (may be repeated)");
}

tl::expected<store_scenario::ScenarioChoices, std::string> parse_campaign(
    const CampaignTexts& texts) {
  store_scenario::ScenarioChoices choices;
  if (texts.protocol == "published") choices.safeguards = engine::Safeguards::published();
  for (const std::string& name : texts.without) {
    if (auto problem = switch_off(choices.safeguards, name)) return tl::unexpected(*problem);
  }
  choices.clients = texts.clients;
  choices.operations = texts.operations;
  choices.in_flight = texts.in_flight;
  choices.slots = texts.slots;
  choices.keys = texts.keys;
  choices.workload = texts.workload;
  choices.tag_worlds = parse_share(texts.tag_worlds);
  choices.hostile = parse_share(texts.hostile);
  if (!texts.strategy.empty()) {
    choices.strategy = texts.strategy == "pct" ? sim::StrategyKind::pct : sim::StrategyKind::random;
  }
  if (texts.faults == "none") {
    choices.faults.emplace();
  } else if (texts.faults != "all") {
    auto kinds = parse_faults(texts.faults);
    if (!kinds) return tl::unexpected(kinds.error());
    choices.faults = std::move(*kinds);
  }
  for (const std::string& text : texts.simulator_options) {
    auto option = parse_simulator_option(text);
    if (!option) return tl::unexpected(option.error());
    choices.simulator_options.push_back(std::move(*option));
  }
  return choices;
}

}  // namespace falafel::command_line
