// Reports replay files that do not match the program.
#pragma once

#include <string>

#include "tools/fuzz/replay.h"
#include "tools/fuzz/run.h"

namespace falafel::command_line {

// Whether the run matches the recorded one.
bool fits(const fuzz::LoadedReplay& replay, const fuzz::StoreRun& run);

// Prints where the runs diverge. Returns the exit status.
int report_divergence(const std::string& path, const fuzz::LoadedReplay& replay,
                      const fuzz::StoreRun& run);

}  // namespace falafel::command_line
