#include "tools/benchmarks/cache_ratios/trace.h"

#include "fabric/random.h"
#include "tools/benchmarks/store/zipfian.h"

namespace falafel::cache_ratios {

double hit_ratio(Policy& policy, const Trace& trace) {
  const store_benchmark::Zipfian popularity(trace.items);
  fabric::RandomGenerator random(trace.seed);
  // Sampling draws from a stream of its own, so that all policies see the same GETs.
  fabric::RandomGenerator sampling(trace.seed + 1);
  std::uint64_t hits = 0;
  std::uint64_t counted = 0;
  for (std::uint64_t get = 0; get < trace.gets; ++get) {
    const std::uint64_t shifts = trace.gets_per_shift == 0 ? 0 : get / trace.gets_per_shift;
    // Another tenth of the items is the most popular one after each shift.
    const std::uint64_t rank = popularity.next(random);
    const std::uint64_t item = (rank + shifts * (trace.items / 10)) % trace.items;
    const bool is_hit = policy.contains(item);
    if (!is_hit) {
      policy.insert(item);
    } else if (trace.hits_per_report > 0 && sampling.below(trace.hits_per_report) == 0) {
      policy.accessed(item);
    }
    if (get < trace.gets / 2) continue;
    ++counted;
    if (is_hit) ++hits;
  }
  return static_cast<double>(hits) / static_cast<double>(counted);
}

}  // namespace falafel::cache_ratios
