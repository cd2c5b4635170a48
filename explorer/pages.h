// Writes the pages of runs, in child processes, because a run may crash.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "explorer/program.h"
#include "fabric/sim/strategies/recording_strategy.h"

namespace falafel::explorer {

// A recorded run, and the files to write about it. Empty paths: no such file.
struct PageRequest {
  const Program& program;
  const Scenario& scenario;
  const std::vector<sim::Choice>& choices;
  std::string property;  // the violation to explain if there are several; empty: the first one
  std::uint64_t critical_tries = 30;
  std::string path;
  std::string perfetto;
};

// The contents of a page.
struct Page {
  std::string title;
  std::string description;
  std::string property;   // empty: all properties hold
  std::string key_steps;  // a Markdown table
  std::uint64_t steps = 0;
  std::uint64_t requests = 0;
  std::uint64_t effects = 0;
  // The run took another course than the recorded one, and how the new one differs.
  bool has_diverged = false;
  std::string divergence;
  std::uint64_t trace_hash = 0;
};

// An error names the file that cannot be written, or says that the run did not come to its end.
tl::expected<Page, std::string> write_page(const PageRequest& request);

}  // namespace falafel::explorer
