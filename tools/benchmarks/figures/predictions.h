// Predictions of the thesis' figures, for the published and for the hardened protocol. The profile
// is made from section 4.1 of the thesis; the figures of chapter 5 are not fitted to.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/figures/figure.h"

namespace falafel::figures {

// How long to measure. Shorter measurements are less precise.
struct Effort {
  std::uint64_t duration_ns = 5'000'000;  // of each run with clients, in virtual time
  std::uint64_t table_entries = 1 << 16;  // of the runs with clients
  std::uint64_t lookup_entries = 65'536;  // of figures 5.3 and 5.4
  std::uint64_t lookup_key_sets = 4;
  std::uint64_t lookup_samples = 1'000;
  std::uint64_t seed = 1;
};

// Figures 4.1 and 4.2: latency and rate of single requests.
std::vector<Figure> predict_card(const sim::timing::Profile& profile);
// Figures 5.1 and 5.2: latency of READs after other requests.
std::vector<Figure> predict_read_variation(const sim::timing::Profile& profile);
// Figures 5.3 and 5.4: lookups and RDMA operations of a search. No times, so no profile.
std::vector<Figure> predict_lookup_cost(const Effort& effort);
// Figures 5.5 to 5.9 and 5.13 to 5.17: throughput and latency with 1 to 40 clients.
std::vector<Figure> predict_throughput(const sim::timing::Profile& profile, const Effort& effort);
// Figures 5.10 to 5.12: latency of single operations by the size of the value.
std::vector<Figure> predict_latency(const sim::timing::Profile& profile, const Effort& effort);

}  // namespace falafel::figures
