// A benchmark in the simulator, which counts round trips and lookups of the store's operations. The
// adversary controls its virtual time, so it tells how much happens, not how long it takes on
// hardware.
#pragma once

#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "tools/store_benchmark/conductor.h"
#include "tools/store_benchmark/options.h"
#include "tools/store_benchmark/result.h"

namespace falafel::store_benchmark {

tl::expected<BenchmarkResult, std::string> run_in_simulator(
    const BenchmarkOptions& options, std::function<void(const Progress&)> on_progress);

}  // namespace falafel::store_benchmark
