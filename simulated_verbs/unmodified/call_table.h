// The functions of the simulator for the calls of programs, by CallNumber.
#pragma once

#include <cstdint>

#include "simulated_verbs/unmodified/mailbox.h"

namespace falafel::simulated_verbs {

// Carries out the call that is in the mailbox, with its errno, as the program that runs in the
// calling fiber. Throws what a function of the simulator throws.
void carry_out(Mailbox& mailbox);

// Its result is a text of the simulator, which programs do not see.
bool gives_text(CallNumber call);

}  // namespace falafel::simulated_verbs
