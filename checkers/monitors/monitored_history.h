// The calls that a monitor judges, and the report of its judgement.
#pragma once

#include <cstddef>
#include <vector>

#include "checkers/call_outline.h"
#include "checkers/linearizability_report.h"
#include "checkers/linearization/object_model.h"
#include "checkers/linearization/object_search.h"
#include "checkers/monitors/lifetimes.h"

namespace falafel::checkers::monitors {

struct MonitoredHistory {
  std::vector<MonitoredCall> calls{};
  std::vector<std::size_t> positions{};  // of the calls, in the history
  std::size_t answered = 0;

  // Sets the times of the call.
  void add(MonitoredCall call, const CallOutline& outline, std::size_t position);
};

// The result is not undecided. The search explains a violation: it lists the longest order of a few
// operations that have no correct order by themselves.
LinearizabilityReport report_of(const MonitorResult& result, const MonitoredHistory& history,
                                linearization::ObjectModel& model,
                                linearization::ObjectSearch& search, LinearizabilityLimits limits,
                                std::size_t most_listed);

}  // namespace falafel::checkers::monitors
