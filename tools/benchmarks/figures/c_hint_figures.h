// The measurements of the paper on C-Hint (sections 2 and 5). Hit ratios come from a trace without
// a network, times from this project's C-Hint on the card of the paper.
#pragma once

#include <vector>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/figures/figure.h"

namespace falafel::figures {

// Figure 5.
std::vector<Figure> predict_c_hint_hits();
// Figures 6 to 8, as far as they follow from the hits by READ.
std::vector<Figure> predict_c_hint_pointer_hits();
// Figure 2 and table 1.
std::vector<Figure> predict_c_hint_times(const sim::timing::Profile& card);
// Figures 9 and 10: reports.
std::vector<Figure> predict_c_hint_reports(const sim::timing::Profile& card);

}  // namespace falafel::figures
