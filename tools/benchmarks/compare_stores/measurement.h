// The cost of a workload on one store: time, and the use of the network, the server's processor and
// the memory by each operation. All stores run the same operations.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/compare_stores/compared_store.h"
#include "tools/benchmarks/store/operation_stream.h"

namespace falafel::compare_stores {

struct Load {
  Demand demand;
  store_benchmark::Workload workload;
  std::uint32_t machines = 5;
  std::uint64_t duration_ns = 20'000'000;
  std::uint64_t seed = 1;
  bool keeps_samples = false;  // of single operations
};

// Returns an error message that names the invalid option; empty: all are valid.
std::string find_invalid_option(const Load& load);

// One operation of the run.
struct OperationSample {
  bool is_get = false;
  double latency_us = 0;
  std::uint64_t requests = 0;  // as StoreClient::Counters
  std::uint64_t bytes = 0;
  std::uint64_t rereads = 0;
};

// Per operation, unless the name says otherwise.
struct Measurement {
  double operations_per_second = 0;
  double median_us = 0;
  double tail_us = 0;  // 99 % are not slower
  double get_us = 0;   // means; 0 if the workload has none
  double set_us = 0;
  double round_trips = 0;
  double verbs = 0;  // requests posted by all parties, receive requests not counted
  double bytes = 0;  // of their payload
  double server_ns = 0;
  double memory_bytes_per_key = 0;
  std::string busiest_part{};
  double busiest_share = 0;
  std::vector<OperationSample> samples{};  // if the load keeps them, in the order in which they end
};

// An error explains what the store could not do under this load.
tl::expected<Measurement, std::string> measure(const sim::timing::Profile& profile,
                                               const ComparedStore& store, const Load& load);

}  // namespace falafel::compare_stores
