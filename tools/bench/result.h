// What a benchmark has measured, as numbers that its reports are made of.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tools/bench/board.h"
#include "tools/bench/conductor.h"
#include "tools/bench/options.h"

namespace falafel::bench {

struct MemoryPerKey {
  double table_bytes = 0;      // entries, those that are free too
  double container_bytes = 0;  // header, key, value, padding
  double collector_bytes = 0;  // the rest of the mature spaces: two, so that one can be collected
  double region_bytes = 0;     // what clients write to
  double total_bytes = 0;      // the whole chunk
};

struct ServerResult {
  engine::ServerStatistics statistics;  // of the run alone
  std::uint64_t mature_used_bytes = 0;
};

struct BenchmarkResult {
  std::string fabric;
  std::string clock;  // what latencies were told by
  double load_seconds = 0;
  double run_seconds = 0;                     // the longest of the clients
  double operations_per_second = 0;           // of all clients
  std::array<LatencyHistogram, 4> latencies;  // by OperationKind
  LatencyHistogram all_latencies;
  engine::OperationStatistics statistics;
  // Absent where there is no server, or not the benchmark's.
  std::optional<ServerResult> server;
  std::optional<MemoryPerKey> memory;
};

// With the server's part, and the memory.
BenchmarkResult sum_up(const BenchmarkOptions& options, const Board& board,
                       const ConductedRun& run);

std::string to_text(const BenchmarkOptions& options, const BenchmarkResult& result);
std::string to_json(const BenchmarkOptions& options, const BenchmarkResult& result);

}  // namespace falafel::bench
