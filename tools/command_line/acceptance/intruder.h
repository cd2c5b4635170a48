// The intruder part: a client that connects to the store as any other does, then tries what it has
// no right to, and WRITEs that a revocation meets midway.
#pragma once

#include <string>

#include "tools/command_line/acceptance/litmus.h"
#include "tools/command_line/acceptance/part_report.h"

namespace falafel::acceptance {

// The store must have begun (Task::begin_store).
PartReport run_intruder(fabric::Host& host, const std::string& server, const Budget& budget);

}  // namespace falafel::acceptance
