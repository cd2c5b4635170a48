// The signals that this library needs. A program cannot block them. Its own handlers get those of
// SIGSEGV and SIGILL that this library has not caused, and none of the others.
#pragma once

namespace falafel::simulated_verbs {

// Before the program runs.
void handle_signals();

}  // namespace falafel::simulated_verbs
