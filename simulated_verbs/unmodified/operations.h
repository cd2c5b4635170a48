// The functions that inline functions of verbs.h find in a context, or in an extended object: those
// of the simulator when it makes them, and those of the process before its program sees them.
#pragma once

#include "simulated_verbs/unmodified/mailbox.h"

namespace falafel::simulated_verbs {

class Process;

// In all contexts that the process has opened since the last call, and in the extended object that
// `call`, which has been carried out, gives.
void set_operations_of_program(Process& process, const Mailboxes& mailboxes, const Mailbox& call);

}  // namespace falafel::simulated_verbs
