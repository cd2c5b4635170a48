// One client of a benchmark of another store in the client's own process. It stores its share of
// the keys and runs the same streams of operations as a Falafel client (client_run.h).
#pragma once

#include <cstdint>

#include "tools/benchmarks/in_process_peers/peer.h"
#include "tools/benchmarks/store/board.h"
#include "tools/benchmarks/store/options.h"

namespace falafel::in_process_peers {

// Follows the board's phases and stores its results there.
void run_peer_client(const PeerKind& kind, const PeerPlace& place,
                     const store_benchmark::BenchmarkOptions& options, std::uint32_t client,
                     store_benchmark::Board& board);

}  // namespace falafel::in_process_peers
