// The process has loaded its program, and waits until the simulator starts it (start_request.h).
#pragma once

#include "simulated_verbs/unmodified/start_request.h"

namespace falafel::simulated_verbs {

// Returns in the process that starts, which may be a copy of the one that has called this, with its
// files. False if there is no simulator.
bool await_start(StartFiles& files);

}  // namespace falafel::simulated_verbs
