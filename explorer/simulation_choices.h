// The options of the simulator in the scenarios of all programs: their description, and how they
// get simpler while a failing run is shrunk.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fabric/sim/options/options.h"

namespace falafel::explorer {

// Each removes one feature: a kind of fault, or a freedom of the devices. Removing a feature that
// the options do not have changes nothing.
std::vector<std::function<void(sim::SimulationOptions&)>> simulation_simplifications();

// One line that names the options without their default values: "  simulator: mtu_bytes 256\n".
std::string describe_simulation(const sim::SimulationOptions& options);

}  // namespace falafel::explorer
