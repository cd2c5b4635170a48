// A benchmark over shared memory: a server and clients that are processes, or threads of this one.
#pragma once

#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "tools/bench/conductor.h"
#include "tools/bench/options.h"
#include "tools/bench/result.h"

namespace falafel::bench {

enum class Parties : std::uint8_t { processes, threads };

// The fabric's sockets are in a temporary directory. With processes, this one has no threads yet.
tl::expected<BenchmarkResult, std::string> run_over_shared_memory(
    const BenchmarkOptions& options, Parties parties, bool huge_pages,
    std::function<void(const Progress&)> on_progress);

}  // namespace falafel::bench
