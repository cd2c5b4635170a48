// A campaign runs many schedules of a program, each generated from its seed, in worker processes. A
// run that crashes or hangs is a finding and does not end the campaign.
//
// A run depends only on its seed, and the counters are sums, so the result does not depend on the
// number of workers. Every tenth schedule runs twice and must take the same course.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "explorer/crash_recorder.h"
#include "explorer/program.h"
#include "fabric/fabric.h"
#include "fabric/sim/simulation.h"

namespace falafel::explorer {

struct CampaignOptions {
  // The campaign runs the seeds first_seed, first_seed + stride, first_seed + 2 stride, ...
  std::uint64_t first_seed = 1;
  std::uint64_t stride = 1;
  std::uint64_t schedules = 10'000;  // 0: as many as `seconds` allow
  double seconds = 0;                // 0: as long as `schedules` take
  unsigned jobs = 1;
  // Stops soon after the first violation, but runs all lower seeds, so that the finding with the
  // lowest seed does not depend on the number of workers.
  bool stops_at_violation = false;
};

struct Finding {
  std::string property;
  std::uint64_t seed = 0;
  std::uint64_t steps = 0;
  std::string explanation;
};

// Schedules without a verdict of one property, and the first of them.
struct Unjudged {
  std::uint64_t schedules = 0;
  std::uint64_t seed = 0;  // the lowest
  std::string reason;      // of the run with that seed
};

// By property.
using UnjudgedSchedules = std::map<std::string, Unjudged>;
// Adds the counts, and keeps the lowest seeds.
void add(UnjudgedSchedules& sum, const UnjudgedSchedules& part);
// One line for each property: how many, why, and the first seed.
std::string to_text(const UnjudgedSchedules& unjudged);

struct CampaignResult {
  // How many seeds have been run: the first ones of the campaign, without a gap, unless it stopped
  // at a violation. It counts those that crashed, too. While the campaign goes on, it counts seeds
  // that still run.
  std::uint64_t seeds = 0;
  std::uint64_t schedules = 0;  // runs that came to their end
  double seconds = 0;
  std::uint64_t steps = 0;
  std::uint64_t hash = 0;     // over all seeds and their trace hashes, independent of order
  std::uint64_t unknown = 0;  // schedules that a checker could not judge
  UnjudgedSchedules unjudged;
  // How many schedules violated each property, and the finding with the lowest seed.
  std::map<std::string, std::uint64_t> violations;
  std::map<std::string, Finding> findings;
  std::array<std::uint64_t, fabric::max_probes> probes{};
  std::array<std::uint64_t, sim::simulator_probe_count> simulator_probes{};
  std::array<std::uint64_t, sim::fault_kind_count> faults{};

  bool holds() const { return violations.empty(); }
};

// A property of the run itself, like crash_property and hang_property.
inline constexpr std::string_view determinism_property = "determinism";

// Gets the result so far. Returns whether the campaign continues. If not, it completes the runs
// that have begun and ends.
using CampaignProgress = std::function<bool(const CampaignResult&)>;

// Calls `progress` several times per second. The calling process must have a single thread, because
// workers are forked. `program` must outlive the call.
CampaignResult run_campaign(const Program& program, const CampaignOptions& options,
                            const CampaignProgress& progress);

// For callers who need no progress.
CampaignResult run_campaign(const Program& program, const CampaignOptions& options);

}  // namespace falafel::explorer
