// What is measured, and the store that it is measured on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/client/client.h"
#include "engine/server/server.h"
#include "tools/bench/operation_stream.h"

namespace falafel::bench {

struct BenchmarkOptions {
  Workload workload;
  std::uint32_t clients = 1;
  std::uint32_t in_flight = 1;  // operations of a client at the same time
  std::uint64_t keys = 1'000'000;
  std::uint64_t key_bytes = 14;
  std::uint64_t value_bytes = 24;
  double load = 0.5;   // of the table, when all keys are stored
  double seconds = 5;  // of the run, in the fabric's time
  std::uint64_t seed = 1;
  std::uint64_t region_bytes = 1 << 20;
  std::optional<engine::ReadaheadOptions> readahead{};  // absent: as the fabric advises

  std::uint64_t stream_count() const { return std::uint64_t{clients} * in_flight; }
  // The most keys that there can be: a workload that inserts may double them.
  std::uint64_t most_keys() const { return workload.inserts() ? 2 * keys : keys; }
};

// What is wrong, as a message that names the option.
std::optional<std::string> find_invalid_option(const BenchmarkOptions& options);

// A store that holds all keys at the load asked for, with room for the collector.
engine::Geometry geometry_for(const BenchmarkOptions& options);
engine::ServerOptions server_options(const BenchmarkOptions& options);
// `advice`: what the fabric advises.
engine::ClientOptions client_options(const BenchmarkOptions& options,
                                     const engine::ReadaheadOptions& advice);

// Of one key's container, with the padding.
std::uint64_t container_size_bytes(const BenchmarkOptions& options);

}  // namespace falafel::bench
