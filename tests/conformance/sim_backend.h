// The simulator as a backend of the conformance suite: each strategy with each profile of a device,
// many seeds each and no faults; and recorded runs that are replayed.
#pragma once

#include <vector>

#include "tests/conformance/harness.h"

namespace falafel::conformance {

std::vector<VariantPointer> simulator_variants();

}  // namespace falafel::conformance
