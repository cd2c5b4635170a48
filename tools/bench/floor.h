// The floor under a read: a loop that hashes the key as the store does, looks into a table of the same
// size, and copies the same bytes out of memory of the same kind, with nothing that keeps them correct.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "tools/bench/options.h"
#include "tools/bench/result.h"

namespace falafel::bench {

// One thread. Of the workload, only the keys' distribution counts.
tl::expected<BenchmarkResult, std::string> measure_floor(const BenchmarkOptions& options,
                                                         bool huge_pages);

}  // namespace falafel::bench
