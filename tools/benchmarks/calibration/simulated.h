// A calibration of the simulator: what a card with a known profile does.
#pragma once

#include <span>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/calibration/parties.h"

namespace falafel::calibration {

// The server has a machine of its own, and the clients share another one.
Measurement measure_simulated(const sim::timing::Profile& profile,
                              std::span<const TimedLoad> loads);

}  // namespace falafel::calibration
