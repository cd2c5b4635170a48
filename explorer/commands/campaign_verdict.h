// The verdict on a campaign, as `fuzz` and `merge` print it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "explorer/campaign_result.h"

namespace falafel::command_line {

inline constexpr int status_wrong_usage = 2;

// A finding with what was recorded of it: a replay file if a schedule could be recorded, and a page
// unless the run ends the process.
struct FindingReport {
  explorer::Finding finding;
  std::string replay_path{};
  std::string trace_path{};
  std::uint64_t steps_after = 0;
};

struct CampaignVerdict {
  const explorer::CampaignResult& result;
  std::vector<FindingReport> findings{};
  std::vector<std::string> missed_conditions{};  // what the campaign should have reached
  std::string executable;                        // how the user calls the commands
  // More schedules without a verdict fail the campaign.
  double permitted_unjudged_share = 0;
  // The scenario that a seed drew, in lines. Empty: this is not known.
  std::function<std::string(std::uint64_t seed)> describe_scenario{};
};

// The option for CampaignVerdict::permitted_unjudged_share.
void add_unjudged_option(CLI::App& command, double& permitted_unjudged_share);

void print_text(const CampaignVerdict& verdict);
nlohmann::json to_json(const CampaignVerdict& verdict);

// "1 to 400", or "2, 6, 10 ... (100 seeds)".
std::string describe_seeds(const std::vector<explorer::SeedRange>& seeds);

std::vector<std::string> unreached_conditions(const explorer::CampaignResult& result);

// 0: everything holds; 1: a property is violated, a condition was not reached, or too many
// schedules ended without a verdict; 3: a run crashed, hung or was not repeatable.
int exit_status_of(const CampaignVerdict& verdict);

}  // namespace falafel::command_line
