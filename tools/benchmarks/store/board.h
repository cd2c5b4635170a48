// The state that the parties of a benchmark share: the current phase and each party's progress. All
// of it, and nothing else that it points to, is in memory that forked processes share.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "engine/client/results.h"
#include "engine/layout/geometry.h"
#include "engine/server/server.h"
#include "falafel/latency_histogram.h"
#include "tools/benchmarks/store/operation_stream.h"

namespace falafel::store_benchmark {

enum class Phase : std::uint8_t { starting, loading, running, finishing, over };

// A text that one process leaves for another.
class SharedText {
 public:
  void set(std::string_view text);
  std::string_view get() const { return {characters_.data()}; }

 private:
  std::array<char, 512> characters_{};
};

enum class PartyState : std::uint8_t { starting, ready, loaded, done, failed };

struct alignas(64) ClientPart {
  std::atomic<PartyState> state = PartyState::starting;
  std::atomic<std::uint64_t> operations = 0;  // completed in the current phase
  SharedText failure;

  // Written before `done`.
  std::array<LatencyHistogram, operation_kind_count> latencies;  // in ns, by OperationKind
  std::uint64_t absent_keys = 0;           // operations that found their key removed
  engine::OperationStatistics statistics;  // during the run only
  std::uint64_t begin_ns = 0;              // start of the run, by a clock that all clients share
  std::uint64_t end_ns = 0;
};

// The server's statistics at the end of a phase.
struct ServerSummary {
  engine::ServerStatistics statistics;
  std::uint64_t mature_used_bytes = 0;
};

struct alignas(64) ServerPart {
  std::atomic<PartyState> state = PartyState::starting;
  SharedText failure;
  ServerSummary after_loading;
  ServerSummary after_run;
};

struct Board {
  std::atomic<Phase> phase = Phase::starting;
  ServerPart server;
  std::span<ClientPart> clients;
};

// A board in memory that is shared with processes forked later.
struct UnmapBoard {
  void operator()(Board* board) const;
};
using SharedBoard = std::unique_ptr<Board, UnmapBoard>;
SharedBoard make_shared_board(std::size_t clients);

}  // namespace falafel::store_benchmark
