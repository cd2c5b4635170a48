// The program's side of its mailbox. This library is in the process of a program that knows nothing
// of it, in place of libibverbs, and in front of the C library. It uses neither exceptions nor the
// library of C++.
#pragma once

#include <cstdint>

#include "simulated_verbs/unmodified/calls.h"

// The functions that programs call.
#define FALAFEL_EXPORTED __attribute__((visibility("default")))

namespace falafel::simulated_verbs {

struct WaitingLoop;

using Word = unsigned long;

// Lets the simulator carry out a call, and returns its result. Sets errno as the call does. Ends
// the process with a message if `falafel run` has not started it.
FALAFEL_EXPORTED Word call_simulator(CallNumber call, Word first = 0, Word second = 0,
                                     Word third = 0, Word fourth = 0, Word fifth = 0,
                                     Word sixth = 0);

// Waits until the simulator starts the process, and maps the memory that both share. The first call
// does that, too.
void connect();
// The file for the program's own variables.
int file_of_variables();

// A reading of a clock without a call, if the simulator has granted the thread one.
bool take_reading(bool of_wall_clock, Word& time_ns);

// True if the calling thread is within call_simulator(), and the number of calls that it has made.
bool is_within_call();
Word calls_of_thread();

// The simulator may interrupt threads by loop_signal.
void note_signals_are_handled();
// The loops that earlier processes have found, and this one: most_loops of them.
WaitingLoop* known_loops();

// As syscall of the C library.
long system_call(long number, Word first, Word second, Word third, Word fourth, Word fifth,
                 Word sixth);

// The first and the last call of a thread that the simulator has given this number.
void begin_thread(Word number);
void end_thread();
// Tells the simulator that the process is about to end.
void announce_end();

// The program needs what is not simulated: ends it with a message that names the function.
[[noreturn]] FALAFEL_EXPORTED void refuse(const char* function);

}  // namespace falafel::simulated_verbs
