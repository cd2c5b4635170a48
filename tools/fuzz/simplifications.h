// What a scenario can be made simpler by, beside having fewer clients and operations.
#pragma once

#include <functional>
#include <vector>

#include "tools/fuzz/scenario.h"

namespace falafel::fuzz {

using Simplification = std::function<void(Scenario&)>;

// Each takes one feature out. One that the scenario does not have is taken out in vain.
std::vector<Simplification> simplifications();

}  // namespace falafel::fuzz
