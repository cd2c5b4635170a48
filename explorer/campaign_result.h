// The result of a campaign: its program, build and options, the seeds that it ran, and the findings
// and counts of their runs. The results of parts, run by several machines or at several times, add
// up to the result of one campaign over all their seeds: counters and hashes are sums, and of each
// violated property the finding with the lowest seed stays.
//
// A file of results is JSON; docs/campaigns.md describes it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "explorer/program.h"
#include "explorer/seed_source.h"

namespace falafel::explorer {

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

// A property of the run itself, like crash_property and hang_property.
inline constexpr std::string_view determinism_property = "determinism";

using NamedCounts = std::vector<std::pair<std::string, std::uint64_t>>;

// Results add up only if these are equal.
struct CampaignIdentity {
  std::string program;
  std::string build;
  // The options that determine the scenarios, by name, with their values.
  std::map<std::string, std::vector<std::string>> options;

  bool operator==(const CampaignIdentity&) const = default;
};

// The time at which a campaign first reached a probe, a fault or a condition.
struct FirstReach {
  double seconds = 0;           // since the campaign began; of a shard, since the shard began
  std::uint64_t schedules = 0;  // of the campaign or the shard until then
};

struct CampaignResult {
  CampaignIdentity identity;
  // The seeds that were run, those of runs that crashed included; no two ranges overlap. One
  // campaign runs its first seeds without a gap, unless it stopped at a violation. While it goes
  // on, its range contains seeds that still run.
  std::vector<SeedRange> seeds;
  std::uint64_t schedules = 0;  // runs that came to their end
  std::uint64_t steps = 0;
  std::uint64_t hash = 0;     // over all seeds and their trace hashes, independent of order
  std::uint64_t unknown = 0;  // schedules that a checker could not judge
  double seconds = 0;         // the sum over all parts
  NamedCounts probes;
  NamedCounts simulator_probes;
  NamedCounts faults;
  // The runs that reached each condition, which the program counts (Program::conditions).
  // run_campaign() leaves them out.
  std::map<std::string, std::uint64_t> conditions;
  // By the names of probes, faults and conditions, as names_reached() has them. A file of version 1
  // has none. Of a sum, each is the earliest of all parts.
  std::map<std::string, FirstReach> first_reached;
  UnjudgedSchedules unjudged;  // a file may lack it
  // The schedules that violated each property, and the finding with the lowest seed.
  std::map<std::string, std::uint64_t> violations;
  std::map<std::string, Finding> findings;

  bool holds() const { return violations.empty(); }
  std::uint64_t seed_count() const;
};

// The count of that name; 0 if there is none.
std::uint64_t count_of(const NamedCounts& counts, std::string_view name);

nlohmann::json to_json(const UnjudgedSchedules& unjudged);

// The identity of campaigns of this build.
CampaignIdentity identify(const Program& program,
                          std::map<std::string, std::vector<std::string>> options);

// The names of all probes, faults and conditions that were reached, each with its kind:
// "probe cas.lost", "simulator READ torn", "fault client_pause", "condition it retried".
std::vector<std::string> names_reached(const CampaignResult& result);
// The same of those that were not reached.
std::vector<std::string> names_missed(const CampaignResult& result);

// Notes everything that the result has reached, and no earlier one had, as first reached now.
void note_first_reached(CampaignResult& result);

// Adds a part. An error, which leaves `sum` as it is, says in what the two differ, or which seeds
// both have. A sum without seeds takes any part.
tl::expected<void, std::string> add(CampaignResult& sum, const CampaignResult& part);

// Replaces the file at once, so that an interruption leaves the old file or the new one. An error
// names the file.
tl::expected<void, std::string> save_result(const CampaignResult& result, const std::string& path);
tl::expected<CampaignResult, std::string> load_result(const std::string& path);

}  // namespace falafel::explorer
