// The sources of the values of a fitted profile.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/calibration/costs.h"

namespace falafel::calibration {

// A source names the error bars of a cost.
std::string source_of(std::string_view value, std::string_view measured_on,
                      const std::vector<ShownCost>& costs, const sim::timing::Profile& base);

}  // namespace falafel::calibration
