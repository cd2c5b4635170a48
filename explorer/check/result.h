// The result of a campaign over a test body.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "explorer/campaign_result.h"

namespace falafel::check {

// A violated property. Only the first failure of a result is shrunk and has a replay file.
struct Failure {
  std::string property;
  std::string explanation;
  std::uint64_t schedules = 0;  // how many violated it
  std::uint64_t seed = 0;       // the lowest of them
  std::uint64_t steps_before = 0;
  std::uint64_t steps_after = 0;
  std::string replay_path{};  // empty: there is no recorded run
  std::string page_path{};    // empty: there is no page, because the run ends its process
};

struct Result {
  bool holds() const { return failures.empty(); }
  // Tells in words how many schedules ran, which failed, the failing run step by step, and how to
  // repeat it. Ends with a line end.
  const std::string& story() const { return text; }

  std::uint64_t schedules = 0;
  std::uint64_t steps = 0;
  std::uint64_t hash = 0;     // over all seeds and their runs; the same for any number of jobs
  std::uint64_t unknown = 0;  // schedules that a checker could not judge
  explorer::UnjudgedSchedules unjudged;  // by property, with the reason of the first
  double seconds = 0;
  std::map<std::string, std::uint64_t> conditions;  // runs that reached each World::sometimes
  std::vector<Failure> failures;                    // the one with the lowest seed comes first
  std::string text;
};

}  // namespace falafel::check
