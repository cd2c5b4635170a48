// The measurements of Pilaf's paper (section 5), predicted with this project's Pilaf on the card of
// the paper.
#pragma once

#include <vector>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/figures/figure.h"

namespace falafel::figures {

// Figure 6: no times, so no card.
std::vector<Figure> predict_pilaf_probes();
// Figures 7 and 8: GETs alone and PUTs alone.
std::vector<Figure> predict_pilaf_operations(const sim::timing::Profile& card);
// Figure 9: READs that race with a PUT.
std::vector<Figure> predict_pilaf_races(const sim::timing::Profile& card);
// Figures 10 and 11: mixtures.
std::vector<Figure> predict_pilaf_mixtures(const sim::timing::Profile& card);

}  // namespace falafel::figures
