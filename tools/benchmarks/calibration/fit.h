// From a measurement to a profile. Each value of the profile belongs to one measured load. The
// simulator measures that load as the calibration did, and the value is changed until both agree.
// Values that no load shows are assumed.
#pragma once

#include <vector>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/calibration/costs.h"
#include "tools/benchmarks/calibration/load.h"

namespace falafel::calibration {

struct FittedProfile {
  sim::timing::Profile profile;
  Measurement predicted;  // the fitted loads, by the profile
  // Costs that cannot be zero. The profile is not to be used unless all of them are told.
  std::vector<ShownCost> costs;
};

// The rounds have the loads of fitted_loads(clients). `base` has the values that are not measured.
FittedProfile fit_profile(const std::vector<Measurement>& rounds, std::uint32_t clients,
                          const sim::timing::Profile& base);

}  // namespace falafel::calibration
