// A worker process of a campaign. It runs its share of the seeds, counts in memory that it shares
// with the campaign, and writes one line per finding.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explorer/campaign.h"
#include "processes/child_process.h"

namespace falafel::explorer {

// Zeroed memory is a valid initial state. Only the worker adds; the campaign reads the counters and
// sets `stop` and `seed_limit`.
struct WorkerCounters {
  std::atomic<std::uint64_t> schedules;
  std::atomic<std::uint64_t> steps;
  std::atomic<std::uint64_t> hash;
  std::atomic<std::uint64_t> unknown;
  std::atomic<std::uint64_t> current_seed;
  std::atomic<bool> stop;
  std::atomic<std::uint64_t> seed_limit;  // the worker runs no seed above it; 0: there is no limit
  std::array<std::atomic<std::uint64_t>, fabric::max_probes> probes;
  std::array<std::atomic<std::uint64_t>, sim::simulator_probe_count> simulator_probes;
  std::array<std::atomic<std::uint64_t>, sim::fault_kind_count> faults;
};

class Worker {
 public:
  // Runs the seeds first_seed + index, + jobs, + 2 jobs, ... Program and options must outlive the
  // worker.
  Worker(const Program& program, const CampaignOptions& options, unsigned index);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Returns the findings since the last call without waiting. A crash or a hang is also a finding;
  // the worker continues with the next seed.
  std::vector<Finding> poll();
  bool is_over() const { return !process_; }
  void stop();
  // The worker runs its seeds up to this one, and no more.
  void stop_after(std::uint64_t seed) { counters_->seed_limit = seed; }
  const WorkerCounters& counters() const { return *counters_; }

 private:
  void start(std::uint64_t first_seed);
  void work(std::uint64_t first_seed, int output);
  void read_lines(std::vector<Finding>& findings);
  void reap(std::vector<Finding>& findings);
  Finding about_current_seed(std::string_view property, std::string explanation) const;

  const Program& program_;
  const CampaignOptions& options_;
  WorkerCounters* counters_;
  std::optional<processes::ChildProcess> process_;  // empty: it has done its share
  int input_ = -1;
  std::string unread_;
  std::uint64_t last_seed_ = 0;  // the current seed when poll() last saw progress
  double seconds_at_last_seed_ = 0;
};

}  // namespace falafel::explorer
