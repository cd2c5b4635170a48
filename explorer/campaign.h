// A campaign runs many schedules of a program, each generated from its seed, in worker processes. A
// run that crashes or hangs is a finding and does not end the campaign.
//
// A run depends only on its seed, and the counters are sums, so the result does not depend on the
// number of workers. Every fortieth schedule runs twice and must take the same course.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "explorer/campaign_result.h"
#include "explorer/program.h"

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
  // The options that determined the scenarios of the program, for the identity of the result.
  std::map<std::string, std::vector<std::string>> scenario_options{};
};

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
