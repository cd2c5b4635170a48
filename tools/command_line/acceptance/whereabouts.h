// Describes where a process is that does not end, for people who read the report of a run and
// cannot look at the machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "tools/command_line/acceptance/recorded_load.h"

namespace falafel::acceptance {

// Describes the state of each thread, and the functions of the kernel in which it waits, innermost
// first. The superuser sees all of them, others the innermost one.
std::string whereabouts_of(pid_t process);

// Describes what a client does according to its log, and which of its operations have no answer.
std::string whereabouts_of(const Log& log, std::uint64_t now_ns);

}  // namespace falafel::acceptance
