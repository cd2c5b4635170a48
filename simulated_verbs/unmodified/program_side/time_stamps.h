// The time stamp counter of the processor, which counts nanoseconds of virtual time. Reading it is
// made to fail: by the system, or on machines where the system cannot do that, by other
// instructions in its place. The instructions behind it show that it is one.
#pragma once

#include <ucontext.h>

namespace falafel::simulated_verbs {

// Before the program runs, and when failing instructions lead to the functions below.
void make_time_stamps_fail();

// If the instruction that has failed reads the counter, carries it out, and goes on behind it.
bool read_time_stamp(ucontext_t& context);           // SIGSEGV
bool read_replaced_time_stamp(ucontext_t& context);  // SIGILL

}  // namespace falafel::simulated_verbs
