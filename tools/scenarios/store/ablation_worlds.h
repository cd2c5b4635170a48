// Small worlds in which the absence of a safeguard has a consequence, at most one for each
// safeguard (docs/proofs.md).
#pragma once

#include <vector>

#include "explorer/small_world.h"

namespace falafel::store_scenario {

std::vector<explorer::SmallAblation> all_ablation_worlds();

}  // namespace falafel::store_scenario
