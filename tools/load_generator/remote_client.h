// One client of a benchmark on a store that answers over a socket, over one connection: it stores its
// share of the keys and runs the same streams of operations as a client of Falafel (client_run.h). With
// several operations in flight it sends one of each stream, and then takes the answers.
#pragma once

#include <cstdint>
#include <string>

#include "tools/bench/board.h"
#include "tools/bench/operation_clock.h"
#include "tools/bench/options.h"
#include "tools/load_generator/protocol.h"

namespace falafel::load_generator {

// Follows the board's phases, and leaves its part there.
void run_remote_client(const std::string& socket_path, const Protocol& protocol,
                       const bench::BenchmarkOptions& options, std::uint32_t client,
                       bench::Board& board);

}  // namespace falafel::load_generator
