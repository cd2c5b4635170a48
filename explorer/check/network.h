// The network of one run: drawn from its seed, and scaled to the length of the program's runs.
#pragma once

#include <cstdint>

#include "explorer/check/options.h"
#include "fabric/sim/options/options.h"

namespace falafel::check {

// `usual_steps`: how many steps a run without faults takes.
sim::SimulationOptions draw_simulation(const Network& network, std::uint64_t usual_steps,
                                       std::uint64_t seed);

// The same network without faults, in which all parties are equally likely to move, so that a run
// takes as long as it has to.
sim::SimulationOptions draw_faultless_simulation(const Network& network, std::uint64_t seed);

}  // namespace falafel::check
