// Leads the parties of a benchmark through its phases and reports their progress.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tools/benchmarks/store/board.h"
#include "tools/benchmarks/store/options.h"

namespace falafel::store_benchmark {

struct Progress {
  Phase phase = Phase::starting;
  std::uint64_t operations = 0;  // in this phase, over all clients
  double seconds = 0;            // since it began
  double rate_per_second = 0;    // since the last report
};

// The conductor's source of time: the host's clock in the simulator, the system's clock elsewhere.
struct Timekeeper {
  std::function<std::uint64_t()> now_ns;
  std::function<void(std::uint64_t duration_ns)> sleep;  // may return early
  std::uint64_t interval_ns = 100'000'000;               // interval between two reads of the board
};

struct ConductedRun {
  double load_seconds = 0;
  std::optional<std::string> failure;  // of a party, or of a check in `is_alive`
};

class Conductor {
 public:
  // `find_dead` describes how a party died that cannot report it itself; it may be an empty
  // function.
  Conductor(const BenchmarkOptions& options, Board& board, Timekeeper time,
            std::function<void(const Progress&)> on_progress,
            std::function<std::optional<std::string>()> find_dead);

  // Waits until all keys are stored, and then begins the run.
  ConductedRun load();
  // Loads, too. When it returns, the phase is over and the parties are leaving.
  ConductedRun run();
  // Waits until the server is ready; returns an error message otherwise.
  std::optional<std::string> wait_for_server();

 private:
  bool wait_for(PartyState state, double seconds);
  std::optional<std::string> find_failure() const;
  void wait_for_server_to_be_done();
  bool have_all(PartyState state) const;
  void enter(Phase phase);
  void show();
  double phase_seconds() const;

  const BenchmarkOptions& options_;
  Board& board_;
  Timekeeper time_;
  std::function<void(const Progress&)> on_progress_;
  std::function<std::optional<std::string>()> find_dead_;
  std::optional<std::string> failure_;
  std::uint64_t phase_began_ns_ = 0;
  std::uint64_t last_shown_ns_ = 0;
  std::uint64_t last_shown_operations_ = 0;
};

}  // namespace falafel::store_benchmark
