// Makes the strategy that the options name.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/sim/options/options.h"
#include "fabric/sim/strategies/strategy.h"

namespace falafel::sim {

// Requires valid options (find_invalid_option). The strategy `urw` knows no earlier run, so it is a
// random walk.
std::unique_ptr<Strategy> make_strategy(const SimulationOptions& options, std::uint64_t seed);

}  // namespace falafel::sim
