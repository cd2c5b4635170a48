// The lower bound for a read: a loop that hashes the key as the store does, looks it up in a table
// of the same size, and copies the same number of bytes from memory of the same kind, without
// anything that ensures correctness.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "tools/bench/options.h"
#include "tools/bench/result.h"

namespace falafel::bench {

// Uses one thread. Only the key distribution of the workload matters.
tl::expected<BenchmarkResult, std::string> measure_floor(const BenchmarkOptions& options,
                                                         bool huge_pages);

}  // namespace falafel::bench
