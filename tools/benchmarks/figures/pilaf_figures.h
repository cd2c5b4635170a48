// The measurements of Pilaf's paper (Mitchell, Geng, Li, USENIX ATC 2013, section 5), predicted
// with this project's Pilaf from the values of a card alone.
#pragma once

#include <vector>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/figures/paper_comparison.h"

namespace falafel::figures {

// The run of each value must complete.
std::vector<PaperComparison> compare_with_pilaf(const sim::timing::Profile& profile);

}  // namespace falafel::figures
