// One client of a benchmark, as a program of a host: it connects, stores its share of the keys, and then
// runs its streams of operations, each in a fiber of its own. Every value that it reads is checked.
#pragma once

#include <cstdint>

#include "engine/client/client.h"
#include "fabric/fabric.h"
#include "tools/bench/board.h"
#include "tools/bench/operation_clock.h"
#include "tools/bench/options.h"

namespace falafel::bench {

// Follows the board's phases, and leaves its part there. The server serves already. Waits.
struct ClientPlace {
  fabric::Address server;
  engine::ReadaheadOptions readahead{};  // as the fabric advises
  OperationClock clock;
  std::uint32_t number = 0;
};
void run_client(fabric::Host& host, const ClientPlace& place, const BenchmarkOptions& options,
                Board& board);

// The server, until the board says that it is over. Waits.
void run_server(fabric::Host& host, const BenchmarkOptions& options, Board& board);

// Waits until the board has left the phase.
void wait_while(fabric::Host& host, const Board& board, Phase phase);

}  // namespace falafel::bench
