// A benchmark in the simulator, which counts round trips and lookups of the store's operations. The
// adversary controls its virtual time, so it tells how much happens, not how long it takes on
// hardware.
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
