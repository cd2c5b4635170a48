// The results of a benchmark as numbers, from which reports are made.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/benchmarks/store/board.h"
#include "tools/benchmarks/store/conductor.h"
#include "tools/benchmarks/store/options.h"

namespace falafel::store_benchmark {

struct MemoryPerKey {
  double table_bytes = 0;      // all entries, including free ones
  double container_bytes = 0;  // header, key, value, padding
  // the rest of the two mature spaces; the second one permits collections
  double collector_bytes = 0;
  double region_bytes = 0;  // written by clients
  double total_bytes = 0;   // the whole chunk
};

struct ServerResult {
  engine::ServerStatistics statistics;  // during the run only
  std::uint64_t mature_used_bytes = 0;
};

// The share of the run during which a part of the machines was busy, in a timed run of the
// simulator.
struct BusyPart {
  std::string name;
  double share = 0;
};

struct BenchmarkResult {
  std::string fabric;
  std::string clock;  // the clock that measured latencies
  double load_seconds = 0;
  double run_seconds = 0;                                        // of the slowest client
  double operations_per_second = 0;                              // over all clients
  std::array<LatencyHistogram, operation_kind_count> latencies;  // by OperationKind
  LatencyHistogram all_latencies;
  std::uint64_t absent_keys = 0;  // operations that found their key removed
  engine::OperationStatistics statistics;
  // Absent if there is no server or it is not the benchmark's own.
  std::optional<ServerResult> server;
  std::optional<MemoryPerKey> memory;
  std::vector<BusyPart> busiest_parts{};  // the busiest first; empty unless the run was timed
};

// Adds the server's part and the memory.
BenchmarkResult sum_up(const BenchmarkOptions& options, const Board& board,
                       const ConductedRun& run);

std::string to_text(const BenchmarkOptions& options, const BenchmarkResult& result);
std::string to_json(const BenchmarkOptions& options, const BenchmarkResult& result);

}  // namespace falafel::store_benchmark
