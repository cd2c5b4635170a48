// A benchmark in real time over shared memory or verbs. The clients are processes or threads of
// this one. The server is either the benchmark's own or one that is already running.
#pragma once

#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "falafel/fabric_options.h"
#include "tools/benchmarks/store/conductor.h"
#include "tools/benchmarks/store/killed_client.h"
#include "tools/benchmarks/store/options.h"
#include "tools/benchmarks/store/result.h"

namespace falafel::store_benchmark {

enum class Parties : std::uint8_t { processes, threads };

struct RealTimeOptions {
  // shm: if the benchmark has its own server, an empty directory stands for a temporary one.
  FabricOptions fabric;
  Parties parties = Parties::processes;
  // The address of a running server, which keeps what the benchmark stores. Empty: the benchmark
  // starts its own.
  std::string server;
};

// With processes, the calling process must not have threads yet. Returns the error that a party
// reported, or how the party ended.
tl::expected<BenchmarkResult, std::string> run_in_real_time(
    const BenchmarkOptions& options, const RealTimeOptions& real_time,
    std::function<void(const Progress&)> on_progress);

// As run_in_real_time() with processes, but kills the first of at least two clients half-way.
tl::expected<KilledClient, std::string> kill_client_in_real_time(const BenchmarkOptions& options,
                                                                 const RealTimeOptions& real_time);

}  // namespace falafel::store_benchmark
