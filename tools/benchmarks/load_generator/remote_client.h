// One client of a benchmark of another store, over one socket connection. It stores its share of
// the keys and runs the same streams of operations as a Falafel client (client_run.h). With several
// operations in flight, it sends one operation of each stream and then receives the answers.
#pragma once

#include <cstdint>
#include <string>

#include "tools/benchmarks/load_generator/protocol.h"
#include "tools/benchmarks/store/board.h"
#include "tools/benchmarks/store/operation_clock.h"
#include "tools/benchmarks/store/options.h"

namespace falafel::load_generator {

// Follows the board's phases and stores its results there.
void run_remote_client(const std::string& socket_path, const Protocol& protocol,
                       const store_benchmark::BenchmarkOptions& options, std::uint32_t client,
                       store_benchmark::Board& board);

}  // namespace falafel::load_generator
