// The measurements of Nessie's paper (Cassell et al., IEEE TPDS 2017, section 6) for NessieCD,
// predicted with this project's Nessie from the values of a card alone.
#pragma once

#include <vector>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/figures/paper_comparison.h"

namespace falafel::figures {

// The run of each value must complete.
std::vector<PaperComparison> compare_with_nessie(const sim::timing::Profile& profile);

}  // namespace falafel::figures
