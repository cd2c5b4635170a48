// The C library's functions by which threads wait for what other threads do: conditions, barriers,
// and functions that run once. A processor may be taken away from a thread before each of them.
#include <pthread.h>

#include <cerrno>
#include <ctime>

#include "simulated_verbs/library_call.h"
#include "simulated_verbs/lock_calls.h"

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.

namespace library = falafel::simulated_verbs;
using falafel::fabric::never_ns;
using library::LibraryCall;
using library::locks_of;
using library::running_process;

extern "C" {

int __real_pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t* attributes);
int __wrap_pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t* attributes) {
  if (running_process() == nullptr) return __real_pthread_cond_init(condition, attributes);
  const LibraryCall call("pthread_cond_init");
  clockid_t clock = CLOCK_REALTIME;
  if (attributes != nullptr) pthread_condattr_getclock(attributes, &clock);
  locks_of(call).initialize_condition(condition, clock);
  return 0;
}

int __real_pthread_cond_destroy(pthread_cond_t* condition);
int __wrap_pthread_cond_destroy(pthread_cond_t* condition) {
  if (running_process() == nullptr) return __real_pthread_cond_destroy(condition);
  const LibraryCall call("pthread_cond_destroy");
  locks_of(call).destroy_condition(condition);
  return 0;
}

int __real_pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex);
int __wrap_pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (running_process() == nullptr) return __real_pthread_cond_wait(condition, mutex);
  const LibraryCall call("pthread_cond_wait");
  call.let_others_go_on();
  return locks_of(call).wait(condition, mutex, call.thread(), never_ns);
}

int __real_pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  const timespec* time);
int __wrap_pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  const timespec* time) {
  if (running_process() == nullptr) return __real_pthread_cond_timedwait(condition, mutex, time);
  const LibraryCall call("pthread_cond_timedwait");
  call.let_others_go_on();
  const clockid_t clock = locks_of(call).clock_of(condition);
  return locks_of(call).wait(condition, mutex, call.thread(),
                             library::deadline_of(call.host(), clock, *time));
}

int __real_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  clockid_t clock, const timespec* time);
int __wrap_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  clockid_t clock, const timespec* time) {
  if (running_process() == nullptr) {
    return __real_pthread_cond_clockwait(condition, mutex, clock, time);
  }
  const LibraryCall call("pthread_cond_clockwait");
  call.let_others_go_on();
  return locks_of(call).wait(condition, mutex, call.thread(),
                             library::deadline_of(call.host(), clock, *time));
}

int __real_pthread_cond_signal(pthread_cond_t* condition);
int __wrap_pthread_cond_signal(pthread_cond_t* condition) {
  if (running_process() == nullptr) return __real_pthread_cond_signal(condition);
  const LibraryCall call("pthread_cond_signal");
  call.let_others_go_on();
  locks_of(call).signal(condition);
  return 0;
}

int __real_pthread_cond_broadcast(pthread_cond_t* condition);
int __wrap_pthread_cond_broadcast(pthread_cond_t* condition) {
  if (running_process() == nullptr) return __real_pthread_cond_broadcast(condition);
  const LibraryCall call("pthread_cond_broadcast");
  call.let_others_go_on();
  locks_of(call).broadcast(condition);
  return 0;
}

int __real_pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                                unsigned threads);
int __wrap_pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                                unsigned threads) {
  if (running_process() == nullptr)
    return __real_pthread_barrier_init(barrier, attributes, threads);
  const LibraryCall call("pthread_barrier_init");
  if (threads == 0) return EINVAL;
  locks_of(call).initialize_barrier(barrier, threads);
  return 0;
}

int __real_pthread_barrier_destroy(pthread_barrier_t* barrier);
int __wrap_pthread_barrier_destroy(pthread_barrier_t* barrier) {
  if (running_process() == nullptr) return __real_pthread_barrier_destroy(barrier);
  const LibraryCall call("pthread_barrier_destroy");
  locks_of(call).destroy_barrier(barrier);
  return 0;
}

int __real_pthread_barrier_wait(pthread_barrier_t* barrier);
int __wrap_pthread_barrier_wait(pthread_barrier_t* barrier) {
  if (running_process() == nullptr) return __real_pthread_barrier_wait(barrier);
  const LibraryCall call("pthread_barrier_wait");
  call.let_others_go_on();
  return locks_of(call).wait_for_others(barrier) ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

int __real_pthread_once(pthread_once_t* control, void (*function)());
int __wrap_pthread_once(pthread_once_t* control, void (*function)()) {
  if (running_process() == nullptr) return __real_pthread_once(control, function);
  const LibraryCall call("pthread_once");
  call.let_others_go_on();
  locks_of(call).run_once(control, [&] {
    const library::ProgramCode code(call.thread());
    function();
  });
  return 0;
}
}
// NOLINTEND(readability-identifier-naming)
