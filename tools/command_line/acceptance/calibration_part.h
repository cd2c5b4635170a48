// The calibration part: measures the device, writes its profile, and compares what the simulator
// predicts with that profile.
#pragma once

#include <string>

#include "falafel/fabric_options.h"
#include "tools/benchmarks/calibration/repetition.h"
#include "tools/command_line/acceptance/part_report.h"

namespace falafel::acceptance {

struct CalibrationPlan {
  FabricOptions fabric;
  std::string server;
  double seconds_per_load = 0.1;
  std::uint32_t clients = 8;
  std::uint32_t rounds = 3;
  std::string profile_path;
  std::string name;
};

PartReport run_calibration(const CalibrationPlan& plan);

// A row for each load: measured, and by the profile.
std::vector<Row> rows_of(const calibration::Measurement& measured,
                         const calibration::Measurement& predicted);

}  // namespace falafel::acceptance
