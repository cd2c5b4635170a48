// A benchmark in real time, over shared memory or verbs: clients that are processes, or threads of this one,
// and a server beside them, or one that serves already.
#pragma once

#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "falafel/fabric_options.h"
#include "tools/bench/conductor.h"
#include "tools/bench/options.h"
#include "tools/bench/result.h"

namespace falafel::bench {

enum class Parties : std::uint8_t { processes, threads };

struct RealTimeOptions {
  // shm: for a server of the benchmark's own, a temporary directory takes the place of an empty one.
  FabricOptions fabric;
  Parties parties = Parties::processes;
  // Of a server that runs already: what the benchmark stores stays there. Empty: the
  // benchmark has its own.
  std::string server;
};

// With processes, this one has no threads yet. Errors: what a party says, or what became of it.
tl::expected<BenchmarkResult, std::string> run_in_real_time(
    const BenchmarkOptions& options, const RealTimeOptions& real_time,
    std::function<void(const Progress&)> on_progress);

}  // namespace falafel::bench
