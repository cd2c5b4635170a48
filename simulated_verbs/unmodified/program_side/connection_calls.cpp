// librdmacm: the functions that the simulator carries out as they are (calls.cpp), and those of
// sockets over RDMA, which are not simulated.
#include "simulated_verbs/unmodified/calls.h"

#include "simulated_verbs/unmodified/program_side/connection.h"

using falafel::simulated_verbs::call_simulator;
using falafel::simulated_verbs::CallNumber;
using falafel::simulated_verbs::Word;

extern "C" {

#define FALAFEL_PASS_ON(name, function)                                                            \
  FALAFEL_EXPORTED Word name(Word first, Word second, Word third, Word fourth, Word fifth,         \
                             Word sixth) {                                                         \
    return call_simulator(CallNumber::of_##name, first, second, third, fourth, fifth, sixth);      \
  }

FALAFEL_CONNECTION_CALLS(FALAFEL_PASS_ON)
FALAFEL_CONNECTION_TEXT_CALLS(FALAFEL_PASS_ON)

#define FALAFEL_REFUSE(name)                                                                       \
  [[noreturn]] FALAFEL_EXPORTED void name() { falafel::simulated_verbs::refuse(#name); }

FALAFEL_REFUSE(raccept)
FALAFEL_REFUSE(rbind)
FALAFEL_REFUSE(rclose)
FALAFEL_REFUSE(rconnect)
FALAFEL_REFUSE(rfcntl)
FALAFEL_REFUSE(rgetpeername)
FALAFEL_REFUSE(rgetsockname)
FALAFEL_REFUSE(rgetsockopt)
FALAFEL_REFUSE(riomap)
FALAFEL_REFUSE(riounmap)
FALAFEL_REFUSE(riowrite)
FALAFEL_REFUSE(rlisten)
FALAFEL_REFUSE(rpoll)
FALAFEL_REFUSE(rread)
FALAFEL_REFUSE(rreadv)
FALAFEL_REFUSE(rrecv)
FALAFEL_REFUSE(rrecvfrom)
FALAFEL_REFUSE(rrecvmsg)
FALAFEL_REFUSE(rselect)
FALAFEL_REFUSE(rsend)
FALAFEL_REFUSE(rsendmsg)
FALAFEL_REFUSE(rsendto)
FALAFEL_REFUSE(rsetsockopt)
FALAFEL_REFUSE(rshutdown)
FALAFEL_REFUSE(rsocket)
FALAFEL_REFUSE(rwrite)
FALAFEL_REFUSE(rwritev)

}  // extern "C"
