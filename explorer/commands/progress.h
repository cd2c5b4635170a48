// The progress display of long-running commands.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "explorer/shrink.h"

namespace falafel::command_line {

inline void print_shrinking(const explorer::FailingRun& best) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\rshrinking: {}, {} steps      ", best.scenario->size(),
             best.run.result.steps);
}

}  // namespace falafel::command_line
