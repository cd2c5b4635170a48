// The C library's functions of semaphores. A processor may be taken away from a thread before each
// of them.
#include <semaphore.h>

#include <cerrno>
#include <ctime>

#include "simulated_verbs/library_call.h"
#include "simulated_verbs/lock_calls.h"

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.

namespace falafel::simulated_verbs {

namespace {

// For functions that set errno.
int with_errno(int error) {
  if (error == 0) return 0;
  errno = error == EBUSY ? EAGAIN : error;
  return -1;
}

}  // namespace
}  // namespace falafel::simulated_verbs

namespace library = falafel::simulated_verbs;
using falafel::fabric::never_ns;
using library::LibraryCall;
using library::locks_of;
using library::running_process;

extern "C" {

int __real_sem_init(sem_t* semaphore, int shared, unsigned value);
int __wrap_sem_init(sem_t* semaphore, int shared, unsigned value) {
  if (running_process() == nullptr) return __real_sem_init(semaphore, shared, value);
  const LibraryCall call("sem_init");
  locks_of(call).initialize_semaphore(semaphore, value);
  return 0;
}

int __real_sem_destroy(sem_t* semaphore);
int __wrap_sem_destroy(sem_t* semaphore) {
  if (running_process() == nullptr) return __real_sem_destroy(semaphore);
  const LibraryCall call("sem_destroy");
  locks_of(call).initialize_semaphore(semaphore, 0);
  return 0;
}

int __real_sem_wait(sem_t* semaphore);
int __wrap_sem_wait(sem_t* semaphore) {
  if (running_process() == nullptr) return __real_sem_wait(semaphore);
  const LibraryCall call("sem_wait");
  call.let_others_go_on();
  return library::with_errno(locks_of(call).take(semaphore, never_ns));
}

int __real_sem_trywait(sem_t* semaphore);
int __wrap_sem_trywait(sem_t* semaphore) {
  if (running_process() == nullptr) return __real_sem_trywait(semaphore);
  const LibraryCall call("sem_trywait");
  call.let_others_go_on();
  return library::with_errno(locks_of(call).take(semaphore, library::no_wait));
}

int __real_sem_timedwait(sem_t* semaphore, const timespec* time);
int __wrap_sem_timedwait(sem_t* semaphore, const timespec* time) {
  if (running_process() == nullptr) return __real_sem_timedwait(semaphore, time);
  const LibraryCall call("sem_timedwait");
  call.let_others_go_on();
  return library::with_errno(
      locks_of(call).take(semaphore, library::deadline_of(call.host(), CLOCK_REALTIME, *time)));
}

int __real_sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time);
int __wrap_sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time) {
  if (running_process() == nullptr) return __real_sem_clockwait(semaphore, clock, time);
  const LibraryCall call("sem_clockwait");
  call.let_others_go_on();
  return library::with_errno(
      locks_of(call).take(semaphore, library::deadline_of(call.host(), clock, *time)));
}

int __real_sem_post(sem_t* semaphore);
int __wrap_sem_post(sem_t* semaphore) {
  if (running_process() == nullptr) return __real_sem_post(semaphore);
  const LibraryCall call("sem_post");
  call.let_others_go_on();
  locks_of(call).give(semaphore);
  return 0;
}

int __real_sem_getvalue(sem_t* semaphore, int* value);
int __wrap_sem_getvalue(sem_t* semaphore, int* value) {
  if (running_process() == nullptr) return __real_sem_getvalue(semaphore, value);
  const LibraryCall call("sem_getvalue");
  call.let_others_go_on();
  *value = static_cast<int>(locks_of(call).value(semaphore));
  return 0;
}
}
// NOLINTEND(readability-identifier-naming)
