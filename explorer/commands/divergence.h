// Reports replay files that do not match the program.
#pragma once

#include <string>

#include "explorer/replay.h"

namespace falafel::command_line {

// Prints where the runs diverge. Returns the exit status.
int report_divergence(const std::string& path, const explorer::LoadedReplay& replay,
                      const std::string& divergence);
int report_divergence(const std::string& path, const explorer::LoadedReplay& replay,
                      const explorer::Run& run);

}  // namespace falafel::command_line
