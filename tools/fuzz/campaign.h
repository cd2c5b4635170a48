// Many schedules, each from its seed, in worker processes: what crashes or hangs in one of them is a
// finding, not the campaign's end.
//
// A seed's run depends on the seed alone, and what is counted is added up; so the result is the same with
// any number of workers. One schedule in ten runs twice, and must take the same course.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/sim/simulation.h"
#include "tools/fuzz/crash_recorder.h"
#include "tools/fuzz/scenario.h"

namespace falafel::fuzz {

struct CampaignOptions {
  ScenarioChoices choices{};
  std::uint64_t first_seed = 1;
  std::uint64_t schedules = 10'000;  // 0: as many as `seconds` allow
  double seconds = 0;                // 0: as many as `schedules` take
  unsigned jobs = 1;
  bool paranoid = false;
  bool stops_at_violation = false;
};

struct Finding {
  std::string property;
  std::uint64_t seed = 0;
  std::uint64_t steps = 0;
  std::string explanation;
};

struct CampaignResult {
  std::uint64_t schedules = 0;
  double seconds = 0;
  std::uint64_t steps = 0;
  std::uint64_t hash = 0;     // over the trace hashes of all seeds, whatever their order
  std::uint64_t unknown = 0;  // schedules that a checker could not judge
  // How many schedules violated a property, and the one with the lowest seed.
  std::map<std::string, std::uint64_t> violations;
  std::map<std::string, Finding> findings;
  std::array<std::uint64_t, fabric::max_probes> probes{};
  std::array<std::uint64_t, sim::simulator_probe_count> simulator_probes{};
  std::array<std::uint64_t, sim::fault_kind_count> faults{};

  bool holds() const { return violations.empty(); }
};

// A property of findings about the run itself, like crash_property and hang_property.
inline constexpr std::string_view determinism_property = "determinism";

// `progress` is called a few times a second with what is known so far. Not from several threads: workers
// are forked.
CampaignResult run_campaign(const CampaignOptions& options,
                            const std::function<void(const CampaignResult&)>& progress);

// The strategy of a seed, as a campaign makes it.
std::unique_ptr<sim::Strategy> make_seeded_strategy(const Scenario& scenario, std::uint64_t seed);

}  // namespace falafel::fuzz
