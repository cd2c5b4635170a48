// The lower bound for a read: a loop that hashes the key as the store does, looks it up in a table
// of the same size, and copies the same number of bytes from memory of the same kind, without
// anything that ensures correctness.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "tools/benchmarks/store/options.h"
#include "tools/benchmarks/store/result.h"

namespace falafel::store_benchmark {

// Uses one thread. Only the key distribution of the workload matters.
tl::expected<BenchmarkResult, std::string> measure_floor(const BenchmarkOptions& options,
                                                         bool huge_pages);

}  // namespace falafel::store_benchmark
