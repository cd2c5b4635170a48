// The measurements of Pilaf's paper, predicted on its card: those of section 2.1 without a store,
// and those of section 5 with this project's Pilaf.
#pragma once

#include <vector>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/figures/figure.h"

namespace falafel::figures {

// Figures 1 and 2 and table 1: READs, messages and IPoIB.
std::vector<Figure> predict_pilaf_transports(const sim::timing::Profile& card);
// Figure 6: no times, so no card.
std::vector<Figure> predict_pilaf_probes();
// Figures 7 and 8: GETs alone and PUTs alone.
std::vector<Figure> predict_pilaf_operations(const sim::timing::Profile& card);
// Figure 9: READs that race with a PUT.
std::vector<Figure> predict_pilaf_races(const sim::timing::Profile& card);
// Figures 10 and 11: mixtures.
std::vector<Figure> predict_pilaf_mixtures(const sim::timing::Profile& card);

}  // namespace falafel::figures
