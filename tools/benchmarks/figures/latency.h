// The latency of single operations of one client by the size of the value, as in section 5.5.1 of
// the thesis: in an empty table, in one that has just the key, and behind a chain of three entries,
// which stands for a table of load 0.8. Containers are read one at a time: the thesis planted its
// chain in a nearly empty table, so that its client did not read ahead. A GET hands out the buffer
// that the network filled, as in the thesis, unless it copies values.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/safeguards.h"
#include "fabric/sim/timing/profile.h"

namespace falafel::figures {

struct LatencyCase {
  std::string_view name;
  double thesis_us;  // for small values
};
std::span<const LatencyCase> latency_cases();

struct LatencyOptions {
  engine::Safeguards safeguards = engine::Safeguards::published();
  bool get_copies = false;
  std::uint32_t location_cache_entries = 0;  // 0: no cache
  std::uint32_t repetitions = 5;
  std::uint64_t seed = 1;
};

// The median of each case, in their order, in microseconds.
std::vector<double> measure_latencies(const sim::timing::Profile& profile,
                                      std::uint64_t value_bytes, const LatencyOptions& options);

}  // namespace falafel::figures
