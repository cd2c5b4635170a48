// Replay files that do not fit the program any more.
#pragma once

#include <string>

#include "tools/fuzz/replay.h"
#include "tools/fuzz/run.h"

namespace falafel::command_line {

// Whether the run is the one that was recorded.
bool fits(const fuzz::LoadedReplay& replay, const fuzz::StoreRun& run);

// Says where they part. The exit status.
int report_divergence(const std::string& path, const fuzz::LoadedReplay& replay,
                      const fuzz::StoreRun& run);

}  // namespace falafel::command_line
