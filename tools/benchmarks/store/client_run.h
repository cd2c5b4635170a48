// One client of a benchmark, which runs on a host: it connects, stores its share of the keys, and
// then runs its streams of operations, each in its own fiber. It verifies every value that it
// reads.
#pragma once

#include <cstdint>

#include "engine/client/client.h"
#include "fabric/fabric.h"
#include "tools/benchmarks/store/board.h"
#include "tools/benchmarks/store/operation_clock.h"
#include "tools/benchmarks/store/options.h"

namespace falafel::store_benchmark {

// Follows the board's phases and stores its results there. The server must be running. Waits.
struct ClientPlace {
  fabric::Address server;
  engine::ReadaheadOptions readahead{};           // recommended by the fabric
  engine::LocationCacheOptions location_cache{};  // recommended by the fabric
  OperationClock clock;
  std::uint32_t number = 0;
};
void run_client(fabric::Host& host, const ClientPlace& place, const BenchmarkOptions& options,
                Board& board);

// Runs the server until the board's phase says that the benchmark is over. Waits.
void run_server(fabric::Host& host, const BenchmarkOptions& options, Board& board);

// Waits until the board leaves the phase.
void wait_while(fabric::Host& host, const Board& board, Phase phase);

}  // namespace falafel::store_benchmark
