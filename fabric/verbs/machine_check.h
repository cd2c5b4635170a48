// Checks whether a machine is fit for this fabric and says what to change.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/verbs/device_check.h"
#include "fabric/verbs/finding.h"

namespace falafel::verbs {

// Opens every device, and examines the limits of this user and this machine.
std::vector<Finding> check_machine(const Demands& demands);

// Measures for every active port how long its device takes to notice that a peer is gone, one port
// after the other. `bound_ns`: what the store expects at most.
std::vector<Finding> check_detection(std::uint64_t bound_ns);

}  // namespace falafel::verbs
