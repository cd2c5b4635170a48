// Options of the simulated network that all campaigns share, as command-line texts.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "fabric/sim/options/options.h"

namespace falafel::command_line {

struct SimulationTexts {
  std::string strategy;
  std::string faults = "all";
  std::vector<std::string> options;
};

struct SimulationChoices {
  std::optional<sim::StrategyKind> strategy;
  std::optional<std::vector<sim::FaultKind>> faults;         // other kinds never strike
  std::vector<std::pair<std::string, std::string>> options;  // valid names and values
};

void add_simulation_options(CLI::App& command, SimulationTexts& texts);

// Choices without a text are random. Returns an error message if a text is invalid.
tl::expected<SimulationChoices, std::string> parse_simulation(const SimulationTexts& texts);

// Changes options that were drawn from a seed.
void apply(const SimulationChoices& choices, sim::SimulationOptions& options);

}  // namespace falafel::command_line
