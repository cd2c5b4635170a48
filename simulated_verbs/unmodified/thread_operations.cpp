// The parts of the C library's functions of threads that are the simulator's: the rest happens in
// the process (program_side/threads.cpp).
#include <cstdint>

#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/threads.h"

using falafel::simulated_verbs::LibraryCall;

extern "C" {

int falafel_join_thread(std::uint64_t number);
int falafel_try_join_thread(std::uint64_t number);
int falafel_detach_thread(std::uint64_t number);
int falafel_begin_once(const void* control);
void falafel_end_once(const void* control);
void falafel_let_others_go_on();

int falafel_join_thread(std::uint64_t number) {
  const LibraryCall call("pthread_join");
  return call.process().threads().join(call.thread(), number, nullptr);
}

int falafel_try_join_thread(std::uint64_t number) {
  const LibraryCall call("pthread_tryjoin_np");
  call.let_others_go_on();
  return call.process().threads().try_join(call.thread(), number, nullptr);
}

int falafel_detach_thread(std::uint64_t number) {
  const LibraryCall call("pthread_detach");
  return call.process().threads().detach(number);
}

int falafel_begin_once(const void* control) {
  const LibraryCall call("pthread_once");
  call.let_others_go_on();
  return call.process().threads().locks().begin_once(control) ? 1 : 0;
}

void falafel_end_once(const void* control) {
  const LibraryCall call("pthread_once");
  call.process().threads().locks().end_once(control);
}

void falafel_let_others_go_on() { LibraryCall("pthread_create").let_others_go_on(); }

}  // extern "C"
