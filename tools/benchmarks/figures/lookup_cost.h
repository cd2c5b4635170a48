// The cost of a search as the table fills (Behringer 5.3, Figures 5.3 and 5.4): the number of
// containers and RDMA operations, for existing and for absent keys, compared with Knuth's
// prediction for linear probing. Measured with the real client and server in the simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "engine/safeguards.h"

namespace falafel::figures {

struct LookupCostOptions {
  engine::Safeguards safeguards = engine::Safeguards::published();
  std::uint64_t table_entries = 65'536;  // at least 1,000
  std::uint64_t key_sets = 10;           // each with its own table and hash secret
  // Searches for absent keys per load and key set. Existing keys take 1/(1 - load) times as many.
  std::uint64_t samples = 3'000;
  std::uint64_t seed = 1;
};

// Means over all samples of one load; 0 if there are none.
struct LookupCost {
  double load = 0;
  double lookups = 0;
  double verbs = 0;
};

struct LookupCostFigure {
  std::vector<LookupCost> successful;    // loads 0.01 to 0.91
  std::vector<LookupCost> unsuccessful;  // loads 0.01 to 0.73
};

// Knuth's expected values. For absent keys, one is subtracted because the empty entry has no
// container to read.
double predicted_successful_lookups(double load);
double predicted_unsuccessful_lookups(double load);
// Adds the READ of the table's chunk.
double predicted_successful_verbs(double load);
double predicted_unsuccessful_verbs(double load);

// The share of the variance over the loads that the prediction explains; 1 is a perfect prediction.
double coefficient_of_determination(const std::vector<LookupCost>& measured,
                                    double LookupCost::*quantity, double (*predict)(double load));

// `on_progress` is called after each key set with the number of completed ones.
LookupCostFigure measure_lookup_cost(const LookupCostOptions& options,
                                     const std::function<void(std::uint64_t)>& on_progress);

}  // namespace falafel::figures
