// A timed run of Troost's benchmark on two machines: all clients are threads of one, and all
// workers threads of the other, as in the paper (3.3.1).
//
// A host of the simulator has one thread, so each worker is a server of its own on the machine of
// the workers. Its table has one list: the paper's 1,024 lists are shared by all clients, and each
// gets as many pairs as a worker's list does if its client executes a 1,024th of all operations. So
// each client does that, whatever their number. A coarser run has fewer operations and pairs, and
// each pair costs as many times as much.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/sim/timing/profile.h"
#include "stores/two_sided/options.h"

namespace falafel::figures {

// The benchmark (3.3).
constexpr std::uint64_t benchmark_operations = 10'000'000;
constexpr std::uint64_t benchmark_lists = 1'024;
constexpr double benchmark_set_share = 0.06;  // rand() % 100 <= 5

struct TwoSidedLoad {
  fabric::Transport transport = fabric::Transport::reliable_connection;
  two_sided::Waiting waiting = two_sided::Waiting::polling;
  std::uint32_t clients = 1;
  // The time that a worker takes for each pair that it walks over at the end of the run, when the
  // table is largest. The time is proportional to the number of pairs in the table, because the
  // caches hold fewer of them.
  double pair_ns = 0;
  // Each client waits for the one before to be started (benchmark.c).
  std::uint64_t start_interval_ns = 100'000'000;
  // Work of each operation that is done for one client at a time: before the clock is read, such as
  // with a lock of the benchmark, and afterwards, such as by the processor that takes interrupts.
  std::uint64_t untimed_serial_ns = 0;
  std::uint64_t timed_serial_ns = 0;
  // The number of operations and of pairs that one of the run stands for.
  std::uint32_t coarseness = 1;
  std::uint64_t seed = 1;
};

struct TwoSidedCost {
  double operations_per_second = 0;  // from the first operation until the last one
  double mean_us = 0;
  double median_us = 0;
  double tail_us = 0;                  // 99 % are not slower
  std::vector<double> latencies_us{};  // of all operations, ascending
  double absent_share = 0;             // of the GETs
  double pairs_walked = 0;             // per operation of the benchmark
  // Context switches of the whole benchmark, on each machine.
  double server_switches = 0;
  double client_switches = 0;
};

// The run must complete.
TwoSidedCost measure_two_sided(const sim::timing::Profile& profile, const TwoSidedLoad& load);

}  // namespace falafel::figures
