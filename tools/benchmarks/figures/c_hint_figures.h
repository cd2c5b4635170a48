// The measurements of C-Hint's paper (Wang, Meng, Zhang, Tan, SoCC 2014, section 5): hit ratios,
// which follow from a trace, and latencies, predicted with this project's C-Hint from the values of
// a card alone.
#pragma once

#include <vector>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/figures/paper_comparison.h"

namespace falafel::figures {

// The run of each value must complete.
std::vector<PaperComparison> compare_with_c_hint(const sim::timing::Profile& profile);

}  // namespace falafel::figures
