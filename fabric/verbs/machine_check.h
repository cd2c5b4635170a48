// Checks whether a machine is fit for this fabric and says what to change.
#pragma once

#include <vector>

#include "fabric/verbs/device_check.h"
#include "fabric/verbs/finding.h"

namespace falafel::verbs {

// Opens every device, and examines the limits of this user and this machine.
std::vector<Finding> check_machine(const Demands& demands);

}  // namespace falafel::verbs
