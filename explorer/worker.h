// A worker process of a campaign. It takes seeds from the source of the campaign and runs them,
// counts in memory that it shares with the campaign, and writes one line per finding.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explorer/campaign_result.h"
#include "explorer/seed_source.h"
#include "processes/child_process.h"
#include "processes/shared_object.h"

namespace falafel::explorer {

// Zeroed memory is a valid initial state. Only the worker adds; the campaign reads the counters and
// sets `stop` and `seed_limit`.
struct WorkerCounters {
  std::atomic<std::uint64_t> schedules;
  std::atomic<std::uint64_t> steps;
  std::atomic<std::uint64_t> hash;
  std::atomic<std::uint64_t> unknown;
  std::atomic<std::uint64_t> taken;         // seeds, those of runs that crashed included
  std::atomic<std::uint64_t> current_seed;  // the last of them
  std::atomic<bool> stop;
  std::atomic<std::uint64_t> seed_limit;  // the worker runs no seed above it; 0: there is no limit
  std::array<std::atomic<std::uint64_t>, fabric::max_probes> probes;
  std::array<std::atomic<std::uint64_t>, sim::simulator_probe_count> simulator_probes;
  std::array<std::atomic<std::uint64_t>, sim::fault_kind_count> faults;
};

// The output of a worker since it was last asked.
struct WorkerReport {
  std::vector<Finding> findings;
  UnjudgedSchedules unjudged;
};

class Worker {
 public:
  // Runs seeds of the source. All parameters must outlive the worker.
  Worker(const Program& program, SeedSource& seeds);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Returns the report since the last call without waiting. A crash or a hang is also a finding;
  // the worker continues with the next seed. After stop(), a run that does not end soon has hung.
  WorkerReport poll();
  bool is_over() const { return !process_; }
  void stop();
  // The worker runs its seeds up to this one, and no more.
  void stop_after(std::uint64_t seed) { counters_->seed_limit = seed; }
  const WorkerCounters& counters() const { return *counters_; }

 private:
  void start();
  void work(int output);
  double patience_seconds() const;
  void read_lines(WorkerReport& report);
  void reap(WorkerReport& report);
  Finding about_current_seed(std::string_view property, std::string explanation) const;

  const Program& program_;
  SeedSource& seeds_;
  processes::SharedObject<WorkerCounters> counters_;
  std::optional<processes::ChildProcess> process_;  // empty: there are no more seeds for it
  std::uint64_t taken_before_ = 0;  // seeds that earlier processes of this worker took
  int input_ = -1;
  std::string unread_;
  std::uint64_t last_taken_ = 0;  // how many seeds when poll() last saw progress
  double seconds_at_progress_ = 0;
};

}  // namespace falafel::explorer
