// The progress display of long-running commands.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "tools/fuzz/shrink.h"

namespace falafel::command_line {

inline void print_shrinking(const fuzz::FailingRun& best) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\rshrinking: {} clients, {} operations, {} steps      ",
             best.scenario.clients.size(), best.scenario.operation_count(), best.run.result.steps);
}

}  // namespace falafel::command_line
