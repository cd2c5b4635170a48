#include "explorer/commands/simulation_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "fabric/assert.h"

namespace falafel::command_line {
namespace {

std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  names.reserve(sim::fault_kind_count);
  for (std::size_t index = 0; index < sim::fault_kind_count; ++index) {
    names.emplace_back(to_string(static_cast<sim::FaultKind>(index)));
  }
  return names;
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  names.reserve(sim::strategy_kind_count);
  for (std::size_t index = 0; index < sim::strategy_kind_count; ++index) {
    names.emplace_back(to_string(static_cast<sim::StrategyKind>(index)));
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

void add_simulation_options(CLI::App& command, SimulationTexts& texts) {
  const std::vector<std::string> strategies = strategy_names();
  command
      .add_option("--strategy", texts.strategy,
                  fmt::format("{} (default: random choice)", fmt::join(strategies, ", ")))
      ->check(CLI::IsMember(strategies));
  command.add_option("--faults", texts.faults, "all, none, or a comma-separated list of faults")
      ->capture_default_str();
  command.add_option("--simulator", texts.options,
                     "option of the simulator, as NAME=VALUE (may be repeated)");
}

tl::expected<SimulationChoices, std::string> parse_simulation(const SimulationTexts& texts) {
  SimulationChoices choices;
  if (!texts.strategy.empty()) {
    const std::vector<std::string> names = strategy_names();
    const auto named = std::ranges::find(names, texts.strategy);
    FALAFEL_ASSERT(named != names.end(), "--strategy {}", texts.strategy);
    choices.strategy = static_cast<sim::StrategyKind>(named - names.begin());
  }
  if (texts.faults == "none") {
    choices.faults.emplace();
  } else if (texts.faults != "all") {
    auto kinds = parse_faults(texts.faults);
    if (!kinds) return tl::unexpected(kinds.error());
    choices.faults = std::move(*kinds);
  }
  for (const std::string& text : texts.options) {
    auto option = parse_simulator_option(text);
    if (!option) return tl::unexpected(option.error());
    choices.options.push_back(std::move(*option));
  }
  return choices;
}

void apply(const SimulationChoices& choices, sim::SimulationOptions& options) {
  if (choices.strategy) options.strategy = *choices.strategy;
  for (std::size_t index = 0; choices.faults && index < sim::fault_kind_count; ++index) {
    const auto kind = static_cast<sim::FaultKind>(index);
    const bool may_strike = std::ranges::find(*choices.faults, kind) != choices.faults->end();
    if (!may_strike) options.set_fault_rate(kind, 0);
  }
  for (const auto& [name, value] : choices.options) {
    const auto problem = sim::set_option(options, name, value);
    FALAFEL_ASSERT(!problem, "{}", *problem);
  }
}

}  // namespace falafel::command_line
