// The measurements of Troost's thesis (chapter 4), predicted with this project's two-sided store on
// the card of the thesis.
#pragma once

#include <vector>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/figures/figure.h"

namespace falafel::figures {

// Figures 4.1 and 4.3 to 4.5, and table 4.1.
std::vector<Figure> predict_troost_polling(const sim::timing::Profile& card);
// Figures 4.2 and 4.6 to 4.8, and table 4.2.
std::vector<Figure> predict_troost_blocking(const sim::timing::Profile& card);
// Table 4.3.
std::vector<Figure> predict_troost_switches(const sim::timing::Profile& card);

}  // namespace falafel::figures
