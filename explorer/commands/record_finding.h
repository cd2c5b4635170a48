// Records the run of a finding: a replay file, as small as time allows, and the page that shows it.
#pragma once

#include <string>

#include "explorer/commands/campaign_verdict.h"
#include "explorer/program.h"

namespace falafel::command_line {

// Writes to `folder`. Without replay_path, nothing could be recorded; there is nothing to record if
// two runs of one seed differ. Errors go to the standard error.
FindingReport record_finding(const explorer::Program& program, const explorer::Finding& finding,
                             double shrink_seconds, const std::string& folder);

}  // namespace falafel::command_line
