// A benchmark in which a client's process is killed half-way through the run, in the middle of
// whatever it does, and which tells whether the other clients go on.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

#include "tools/benchmarks/store/board.h"
#include "tools/benchmarks/store/options.h"
#include "tools/benchmarks/store/parties.h"

namespace falafel::store_benchmark {

// The operations of the other clients, in the halves before and after.
struct KilledClient {
  double seconds_before = 0;
  std::uint64_t operations_before = 0;
  double seconds_after = 0;
  std::uint64_t operations_after = 0;
};

// The name of a client's process in `parties`.
std::string client_name(std::uint32_t client);

// Waits. Requires two clients, and leaves the parties to the caller, who must not wait for them:
// some may never end. Returns the error of a party that fails before.
tl::expected<KilledClient, std::string> kill_first_client(const BenchmarkOptions& options,
                                                          Board& board, ChildProcesses& parties);

std::string to_json(const KilledClient& killed);

}  // namespace falafel::store_benchmark
