// A calibration as text: what was measured, and how well the profile predicts it.
#pragma once

#include <string>

#include "tools/benchmarks/calibration/fit.h"
#include "tools/benchmarks/calibration/load.h"

namespace falafel::calibration {

// Latencies by size, rates by number of clients and by size.
std::string to_text(const Measurement& measured);
// The costs that cannot be zero, with their error bars.
std::string to_text(const std::vector<ShownCost>& costs);
// The loads from which the profile follows, measured and by the profile.
std::string compare(const Measurement& measured, const Measurement& predicted);

}  // namespace falafel::calibration
