// A benchmark in the simulator: what the store's operations take there, in round trips and lookups. Its
// time is virtual, and an adversary's: it tells how much happens, not how long hardware takes.
#pragma once

#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "tools/bench/conductor.h"
#include "tools/bench/options.h"
#include "tools/bench/result.h"

namespace falafel::bench {

tl::expected<BenchmarkResult, std::string> run_in_simulator(
    const BenchmarkOptions& options, std::function<void(const Progress&)> on_progress);

}  // namespace falafel::bench
