// The options of a benchmark, and of the store that it measures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/client/client.h"
#include "engine/server/server.h"
#include "tools/benchmarks/store/operation_stream.h"

namespace falafel::store_benchmark {

struct BenchmarkOptions {
  Workload workload;
  std::uint32_t clients = 1;
  std::uint32_t in_flight = 1;  // concurrent operations per client
  // If true, concurrent operations are one batch after the other, instead of streams of their own.
  bool batches = false;
  std::uint64_t keys = 1'000'000;
  std::uint64_t key_bytes = 14;
  std::uint64_t value_bytes = 24;
  double load = 0.5;   // of the table after all keys are stored
  double seconds = 5;  // duration of the run in the fabric's time
  std::uint64_t seed = 1;
  std::uint64_t region_bytes = 1 << 20;
  std::optional<engine::ReadaheadOptions> readahead{};  // absent: recommended by the fabric
  // The entries of each client's cache; 0: no cache; absent: recommended by the fabric.
  std::optional<std::uint32_t> location_cache_entries{};
  bool semi_spaces = false;
  engine::SpareBits reference_bits{};  // absent: as many as the memory leaves

  std::uint64_t stream_count() const { return std::uint64_t{clients} * in_flight; }
  // The maximum number of keys. A workload with insertions may double them.
  std::uint64_t most_keys() const { return workload.inserts() ? 2 * keys : keys; }
};

// Returns an error message that names the invalid option; nullopt: all are valid.
std::optional<std::string> find_invalid_option(const BenchmarkOptions& options);

// A store for all keys at the requested load, with room for the collector.
engine::Geometry geometry_for(const BenchmarkOptions& options);
engine::ServerOptions server_options(const BenchmarkOptions& options);
// `readahead` and `cache` are the fabric's recommendations.
engine::ClientOptions client_options(const BenchmarkOptions& options,
                                     const engine::ReadaheadOptions& readahead,
                                     const engine::LocationCacheOptions& cache);

// The size of one key's container, including the padding.
std::uint64_t container_size_bytes(const BenchmarkOptions& options);

}  // namespace falafel::store_benchmark
