// Repeats a recorded run of any program and builds its timeline.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "explorer/program.h"
#include "explorer/timeline/timeline.h"
#include "fabric/sim/strategies/recording_strategy.h"

namespace falafel::timeline {

struct RecordOptions {
  std::string property{};  // the violation to explain if there are several; empty: the first one
  std::uint64_t critical_tries =
      30;  // continuations for the critical step; 0: do not search for it
};

struct RecordedTimeline {
  explorer::Run run;  // diverged: the choices do not match the run, and the timeline ends there
  Timeline timeline;
};

RecordedTimeline record_timeline(explorer::Runner& runner, const explorer::Scenario& scenario,
                                 const std::vector<sim::Choice>& choices,
                                 const RecordOptions& options = {});

// Returns an error message that begins with the path.
tl::expected<void, std::string> write_page(const Timeline& timeline, const std::string& path);
tl::expected<void, std::string> write_chrome_trace(const Timeline& timeline,
                                                   const std::string& path);

}  // namespace falafel::timeline
