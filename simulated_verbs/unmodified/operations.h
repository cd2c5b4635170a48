// The functions that inline functions of verbs.h find in a context: those of the simulator when it
// makes the context, and those of the process before its program sees it.
#pragma once

#include "simulated_verbs/unmodified/mailbox.h"

namespace falafel::simulated_verbs {

class Process;

// In all contexts that the process has opened since the last call. Without extended functions,
// which are not simulated for processes.
void set_operations_of_program(Process& process, const Mailboxes& mailboxes);

}  // namespace falafel::simulated_verbs
