// A timed run of Troost's store on two machines: all clients are threads of one, and all workers
// threads of the other, as in the paper (3.3.1).
//
// A host of the simulator has one thread, so each worker is a server of its own on the machine of
// the workers, with its own table. The threads of a machine share its processors.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/sim/timing/profile.h"
#include "stores/two_sided/options.h"

namespace falafel::figures {

struct TwoSidedLoad {
  fabric::Transport transport = fabric::Transport::reliable_connection;
  two_sided::Waiting waiting = two_sided::Waiting::polling;
  std::uint32_t clients = 1;
  // The work of the client's thread for an operation besides the store: before the clock is read
  // for the last time, and between two operations.
  std::uint64_t timed_work_ns = 0;
  std::uint64_t think_ns = 0;
  std::uint64_t duration_ns = 10'000'000;
  std::uint64_t seed = 1;
};

struct TwoSidedCost {
  double operations_per_second = 0;
  double mean_us = 0;
  double median_us = 0;
  double tail_us = 0;                  // 99 % are not slower
  std::vector<double> latencies_us{};  // of all operations, ascending
};

// The run must complete.
TwoSidedCost measure_two_sided(const sim::timing::Profile& profile, const TwoSidedLoad& load);

}  // namespace falafel::figures
