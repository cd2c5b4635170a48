// Programs that wait without a call, such as by while (*flag == 0).
//
// When a thread has made no call for some time, the simulator interrupts it (look_for_loop). The
// thread then goes on instruction by instruction. If all its registers, and its stack near the top,
// come back to what they were, and nothing else was stored meanwhile, then the thread repeats
// this loop until somebody else changes memory. So it waits in the simulator, at one point of the
// loop which does not depend on when it was interrupted, until something happens at this host. It
// goes on from there, and waits again if it comes back unchanged. So a run repeats whenever the
// thread is interrupted.
//
// From then on, a breakpoint at that point finds the loop at once, in this process and in those of
// later runs. A loop that counts or stores is not found, and its program is silent.
#pragma once

#include <ucontext.h>

namespace falafel::simulated_verbs {

// Before the program runs: places the breakpoints that earlier processes have found.
void place_known_breakpoints();

// For the handlers of the signals: of the simulator; and of breakpoints and single steps.
void look_for_loop(ucontext_t& context);
bool note_trap(ucontext_t& context);  // false: it is the program's own

}  // namespace falafel::simulated_verbs
