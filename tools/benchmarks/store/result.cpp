#include "tools/benchmarks/store/result.h"

#include <algorithm>
#include <span>

namespace falafel::store_benchmark {
namespace {

engine::ServerStatistics difference(const engine::ServerStatistics& after,
                                    const engine::ServerStatistics& before) {
  engine::ServerStatistics statistics = after;
  statistics.clients_fenced -= before.clients_fenced;
  statistics.clients_expelled -= before.clients_expelled;
  statistics.flushes_overdue -= before.flushes_overdue;
  statistics.regions_granted -= before.regions_granted;
  statistics.regions_denied -= before.regions_denied;
  statistics.regions_collected -= before.regions_collected;
  statistics.mature_collections -= before.mature_collections;
  statistics.mature_measurements -= before.mature_measurements;
  statistics.regions_asked_back -= before.regions_asked_back;
  statistics.containers_copied -= before.containers_copied;
  statistics.containers_unreadable -= before.containers_unreadable;
  statistics.entries_given_up -= before.entries_given_up;
  statistics.scans_given_up -= before.scans_given_up;
  statistics.cleanups -= before.cleanups;
  statistics.entries_cleaned -= before.entries_cleaned;
  statistics.entries_repaired -= before.entries_repaired;
  statistics.updates_lost -= before.updates_lost;
  return statistics;
}

}  // namespace

MemoryPerKey memory_per_key(const BenchmarkOptions& options) {
  const engine::Geometry geometry = geometry_for(options);
  const auto keys = static_cast<double>(options.keys);
  const auto per_key = [&](std::uint64_t bytes) { return static_cast<double>(bytes) / keys; };
  MemoryPerKey memory;
  memory.table_bytes = per_key(geometry.region_offset(0));
  memory.container_bytes = static_cast<double>(container_size_bytes(options));
  memory.region_bytes = per_key(geometry.region_count * geometry.region_bytes);
  memory.collector_bytes =
      per_key(geometry.mature_space_count * geometry.mature_bytes) - memory.container_bytes;
  memory.total_bytes = per_key(geometry.chunk_bytes());
  return memory;
}

BenchmarkResult sum_up(const BenchmarkOptions& options, const Board& board,
                       const ConductedRun& run) {
  BenchmarkResult result;
  result.load_seconds = run.load_seconds;
  for (const ClientPart& part : board.clients) {
    const double seconds = static_cast<double>(part.end_ns - part.begin_ns) / 1e9;
    std::uint64_t operations = 0;
    for (std::size_t kind = 0; kind < part.latencies.size(); ++kind) {
      result.latencies[kind] += part.latencies[kind];
      result.all_latencies += part.latencies[kind];
      operations += part.latencies[kind].count();
    }
    result.run_seconds = std::max(result.run_seconds, seconds);
    if (seconds > 0) result.operations_per_second += static_cast<double>(operations) / seconds;
    result.statistics += part.statistics;
    result.absent_keys += part.absent_keys;
  }
  result.server = {.statistics = difference(board.server.after_run.statistics,
                                            board.server.after_loading.statistics),
                   .mature_used_bytes = board.server.after_run.mature_used_bytes};
  result.memory = memory_per_key(options);
  return result;
}

}  // namespace falafel::store_benchmark
