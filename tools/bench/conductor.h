// Leads the parties of a benchmark through its phases, and shows how far they are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tools/bench/board.h"
#include "tools/bench/options.h"

namespace falafel::bench {

struct Progress {
  Phase phase = Phase::starting;
  std::uint64_t operations = 0;  // of the phase, all clients
  double seconds = 0;            // since it began
  double rate_per_second = 0;    // since the last report
};

// How a conductor meets time: the host's in the simulator, the system's elsewhere.
struct Timekeeper {
  std::function<std::uint64_t()> now_ns;
  std::function<void(std::uint64_t duration_ns)> sleep;  // may be cut short
  std::uint64_t interval_ns = 100'000'000;               // between two looks at the board
};

struct ConductedRun {
  double load_seconds = 0;
  std::optional<std::string> failure;  // of a party, or of a check that `is_alive` made
};

class Conductor {
 public:
  // `find_dead`: what became of a party that cannot say it itself, if something did; may be empty.
  Conductor(const BenchmarkOptions& options, Board& board, Timekeeper time,
            std::function<void(const Progress&)> on_progress,
            std::function<std::optional<std::string>()> find_dead);

  // Waits. Afterwards the phase is over, and the parties leave.
  ConductedRun run();
  // Until the server is ready; what is wrong otherwise.
  std::optional<std::string> wait_for_server();

 private:
  bool wait_for(PartyState state, double seconds);
  std::optional<std::string> find_failure() const;
  bool wait_for_server_to_be_done();
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

}  // namespace falafel::bench
