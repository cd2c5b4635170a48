// From a measurement to a profile. Each value of the profile belongs to one measured load. The
// simulator measures that load as the calibration did, and the value is changed until both agree.
// What no load shows is assumed.
#pragma once

#include <string>

#include "fabric/sim/timing/profile.h"
#include "tools/calibration/load.h"

namespace falafel::calibration {

struct FittedProfile {
  sim::timing::Profile profile;
  Measurement predicted;  // the fitted loads, by the profile
};

// `measured` has the loads of fitted_loads(clients). `base` has the values that are not measured.
FittedProfile fit_profile(const Measurement& measured, std::uint32_t clients,
                          const sim::timing::Profile& base);

// Where each value of a fitted profile comes from.
std::string source_of(std::string_view value, std::string_view measured_on,
                      const sim::timing::Profile& base);

}  // namespace falafel::calibration
