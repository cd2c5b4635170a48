// The measurements of the paper on Nessie (section 6), predicted with this project's Nessie on the
// card of the paper.
#pragma once

#include <vector>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/figures/figure.h"

namespace falafel::figures {

// Figure 4: threads of others on each machine.
std::vector<Figure> predict_nessie_background(const sim::timing::Profile& card);
// Table 1 and figure 5: all three versions by the size of the value, half of the operations GETs.
std::vector<Figure> predict_nessie_sizes(const sim::timing::Profile& card);
// Figures 6 and 7: the same with 90 and 99 % GETs.
std::vector<Figure> predict_nessie_gets(const sim::timing::Profile& card);
// Figures 8 to 11: RDMA operations and bytes of single operations.
std::vector<Figure> predict_nessie_operations(const sim::timing::Profile& card);
// Figures 12 and 13: popular keys.
std::vector<Figure> predict_nessie_zipf(const sim::timing::Profile& card);

}  // namespace falafel::figures
