// The time that the work of the store, and a lock, take on the processor of a host.
#pragma once

#include "fabric/fabric.h"
#include "tools/benchmarks/calibration/load.h"

namespace falafel::calibration {

// Does the work, which takes the processor's time, and says so to the host, so that a timed run of
// the simulator lets the time of its profile pass.
ProcessorCost measure_processor(fabric::Host& host);

}  // namespace falafel::calibration
