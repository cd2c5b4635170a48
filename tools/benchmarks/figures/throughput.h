// Throughput and latency of the store with many clients, as in section 5.4 of the thesis: each
// client loops over keys of its own and decides at random between GET and SET.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/safeguards.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/timing/profile.h"

namespace falafel::figures {

struct ThroughputLoad {
  std::uint32_t clients = 1;
  std::uint32_t machines = 5;
  std::uint32_t get_percent = 100;
  double load = 0.1;
  std::uint64_t table_entries = 1 << 16;
  std::uint64_t key_bytes = 14;
  std::uint64_t value_bytes = 24;
  std::uint32_t readahead_bytes = 100;
  engine::Safeguards safeguards = engine::Safeguards::published();
  std::uint64_t duration_ns = 10'000'000;
  std::uint64_t seed = 1;
};

// The share of the measured time during which a part of a machine was busy.
struct BusyShare {
  std::string part;
  double share = 0;
};

struct Throughput {
  double operations_per_second = 0;
  double get_latency_us = 0;  // medians; 0 without such operations
  double set_latency_us = 0;
  std::vector<BusyShare> server;  // the busiest part first
};

Throughput measure_throughput(const sim::timing::Profile& profile, const ThroughputLoad& load);

}  // namespace falafel::figures
