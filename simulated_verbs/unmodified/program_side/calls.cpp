// The functions that the simulator carries out as they are. Their arguments are passed on as plain
// words, which is how the calling conventions of x86-64 and ARM64 pass them.
#include "simulated_verbs/unmodified/calls.h"

#include "simulated_verbs/unmodified/program_side/connection.h"

using falafel::simulated_verbs::call_simulator;
using falafel::simulated_verbs::CallNumber;
using falafel::simulated_verbs::Word;

extern "C" {

#define FALAFEL_PASS_ON(name, ...)                                                                 \
  FALAFEL_EXPORTED Word name(Word first, Word second, Word third, Word fourth, Word fifth,         \
                             Word sixth) {                                                         \
    return call_simulator(CallNumber::of_##name, first, second, third, fourth, fifth, sixth);      \
  }

FALAFEL_VERBS_CALLS(FALAFEL_PASS_ON)
FALAFEL_TEXT_CALLS(FALAFEL_PASS_ON)
FALAFEL_OPERATION_CALLS(FALAFEL_PASS_ON)
FALAFEL_QUEUE_CALLS(FALAFEL_PASS_ON)
FALAFEL_BATCH_CALLS(FALAFEL_PASS_ON)
FALAFEL_LIBRARY_CALLS(FALAFEL_PASS_ON)
FALAFEL_LOCK_CALLS(FALAFEL_PASS_ON)

}  // extern "C"
