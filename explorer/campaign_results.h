// The results of a campaign as a file: which seeds of which program were run, by which build, with
// which options, and what came of it. Parts of a campaign, run by several machines or at several
// times, add up to what one campaign over all their seeds would have found: counters and hashes are
// sums, and of each violated property the finding with the lowest seed stays.
//
// The file is JSON; docs/campaigns.md describes it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "explorer/campaign.h"
#include "explorer/program.h"
#include "explorer/seed_source.h"

namespace falafel::explorer {

using NamedCounts = std::vector<std::pair<std::string, std::uint64_t>>;

// Results add up only if these are equal.
struct CampaignIdentity {
  std::string program;
  std::string build;
  // The options that determine the scenarios, by name, with their values.
  std::map<std::string, std::vector<std::string>> options;

  bool operator==(const CampaignIdentity&) const = default;
};

// When a probe, a fault or a condition was first reached.
struct FirstReach {
  double seconds = 0;           // since the campaign began; of a shard, since the shard began
  std::uint64_t schedules = 0;  // of the campaign or the shard until then
};

struct CampaignResults {
  CampaignIdentity identity;
  std::vector<SeedRange> seeds;  // what has been run; no two ranges overlap
  std::uint64_t schedules = 0;
  std::uint64_t steps = 0;
  std::uint64_t hash = 0;
  std::uint64_t unknown = 0;
  double seconds = 0;  // the sum over all parts
  NamedCounts probes;
  NamedCounts simulator_probes;
  NamedCounts faults;
  std::map<std::string, std::uint64_t> conditions;
  // By the names of probes, faults and conditions, as names_reached() has them. A file of version 1
  // has none. Of a sum, each is the earliest of all parts.
  std::map<std::string, FirstReach> first_reached;
  UnjudgedSchedules unjudged;  // a file may lack it
  std::map<std::string, std::uint64_t> violations;
  std::map<std::string, Finding> findings;

  bool holds() const { return violations.empty(); }
};

nlohmann::json to_json(const UnjudgedSchedules& unjudged);

// The identity of campaigns of this build.
CampaignIdentity identify(const Program& program,
                          std::map<std::string, std::vector<std::string>> options);

// The results of a campaign over the seeds first_seed, first_seed + stride, ... without conditions,
// which the program counts.
CampaignResults name_results(const Program& program, CampaignIdentity identity,
                             const CampaignOptions& options, const CampaignResult& result);

// The names of all probes, faults and conditions that were reached, each with its kind:
// "probe cas.lost", "simulator READ torn", "fault client_pause", "condition it retried".
std::vector<std::string> names_reached(const CampaignResults& results);
// The same of those that were not reached.
std::vector<std::string> names_missed(const CampaignResults& results);

// Notes what the results have reached, and earlier ones had not, as first reached now.
void note_first_reached(CampaignResults& results);

// Adds a part. An error, which leaves `sum` as it is, says in what the two differ, or which seeds
// both have. A sum without seeds takes any part.
tl::expected<void, std::string> add(CampaignResults& sum, const CampaignResults& part);

// Replaces the file at once, so that an interruption leaves the old file or the new one. An error
// names the file.
tl::expected<void, std::string> save_results(const CampaignResults& results,
                                             const std::string& path);
tl::expected<CampaignResults, std::string> load_results(const std::string& path);

}  // namespace falafel::explorer
