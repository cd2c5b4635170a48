// Hit ratios of a cache in front of something that has all items: each GET that misses adds its
// item. The popularity of items is zipfian.
#pragma once

#include <cstdint>

#include "tools/benchmarks/cache_ratios/policies.h"

namespace falafel::cache_ratios {

struct Trace {
  std::uint64_t items = 100'000;
  std::uint64_t gets = 2'000'000;
  // The number of hits for each one that the server hears of; 0: of none. It hears of each
  // insertion.
  std::uint64_t hits_per_report = 1;
  // After this number of GETs, the popularity moves to other items; 0: never.
  std::uint64_t gets_per_shift = 0;
  std::uint64_t seed = 1;
};

// The share of hits among the GETs of the trace's second half.
double hit_ratio(Policy& policy, const Trace& trace);

}  // namespace falafel::cache_ratios
