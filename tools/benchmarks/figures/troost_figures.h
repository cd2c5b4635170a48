// The measurements of Troost (a bachelor's thesis on the scalability of RDMA transports for
// key-value stores, Vrije Universiteit Amsterdam, 2021, chapter 4), predicted with this project's
// version of the store. The work of a client besides the store is fitted to few clients that poll.
#pragma once

#include <vector>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/figures/paper_comparison.h"

namespace falafel::figures {

// The run of each value must complete.
std::vector<PaperComparison> compare_with_troost(const sim::timing::Profile& profile);

}  // namespace falafel::figures
