// The C library's functions of mutexes, conditions, locks of readers and writers, spin locks and
// semaphores. A processor may be taken away from a thread before each of them.
#include <pthread.h>
#include <semaphore.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include "simulated_verbs/process.h"
#include "simulated_verbs/threads.h"
#include "simulated_verbs/time_units.h"

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.

namespace falafel::simulated_verbs {

namespace {

constexpr std::uint64_t no_wait = 0;

Locks& locks_of(const LibraryCall& call) { return call.process().threads().locks(); }

// The deadline on the host's monotonic clock. Not 0, which would be no wait.
std::uint64_t deadline_of(fabric::Host& host, clockid_t clock, const timespec& time) {
  const std::uint64_t at_ns = static_cast<std::uint64_t>(time.tv_sec) * second_ns +
                              static_cast<std::uint64_t>(time.tv_nsec);
  const std::uint64_t now_ns = host.now_ns();
  const std::uint64_t clock_ns = clock == CLOCK_MONOTONIC ? now_ns : host.wall_clock_ns();
  return at_ns > clock_ns ? now_ns + (at_ns - clock_ns) : std::max<std::uint64_t>(now_ns, 1);
}

Locks::MutexKind kind_of(const pthread_mutexattr_t* attributes) {
  int type = PTHREAD_MUTEX_NORMAL;
  if (attributes != nullptr) pthread_mutexattr_gettype(attributes, &type);
  if (type == PTHREAD_MUTEX_RECURSIVE) return Locks::MutexKind::recursive;
  return type == PTHREAD_MUTEX_ERRORCHECK ? Locks::MutexKind::error_checking
                                          : Locks::MutexKind::normal;
}

// Spin locks are volatile.
const void* plain(const pthread_spinlock_t* lock) { return const_cast<const int*>(lock); }

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

int __real_pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes);
int __wrap_pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) {
  if (running_process() == nullptr) return __real_pthread_mutex_init(mutex, attributes);
  const LibraryCall call("pthread_mutex_init");
  locks_of(call).initialize_mutex(mutex, library::kind_of(attributes));
  return 0;
}

int __real_pthread_mutex_destroy(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_destroy(pthread_mutex_t* mutex) {
  if (running_process() == nullptr) return __real_pthread_mutex_destroy(mutex);
  const LibraryCall call("pthread_mutex_destroy");
  return locks_of(call).destroy_mutex(mutex);
}

int __real_pthread_mutex_lock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (running_process() == nullptr) return __real_pthread_mutex_lock(mutex);
  const LibraryCall call("pthread_mutex_lock");
  call.let_others_go_on();
  return locks_of(call).lock(mutex, call.thread(), never_ns);
}

int __real_pthread_mutex_trylock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t* mutex) {
  if (running_process() == nullptr) return __real_pthread_mutex_trylock(mutex);
  const LibraryCall call("pthread_mutex_trylock");
  call.let_others_go_on();
  return locks_of(call).lock(mutex, call.thread(), library::no_wait);
}

int __real_pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time);
int __wrap_pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time) {
  if (running_process() == nullptr) return __real_pthread_mutex_timedlock(mutex, time);
  const LibraryCall call("pthread_mutex_timedlock");
  call.let_others_go_on();
  return locks_of(call).lock(mutex, call.thread(),
                             library::deadline_of(call.host(), CLOCK_REALTIME, *time));
}

int __real_pthread_mutex_unlock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t* mutex) {
  if (running_process() == nullptr) return __real_pthread_mutex_unlock(mutex);
  const LibraryCall call("pthread_mutex_unlock");
  call.let_others_go_on();
  return locks_of(call).unlock(mutex, call.thread());
}

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

int __real_pthread_rwlock_init(pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes);
int __wrap_pthread_rwlock_init(pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes) {
  if (running_process() == nullptr) return __real_pthread_rwlock_init(lock, attributes);
  const LibraryCall call("pthread_rwlock_init");
  locks_of(call).initialize_shared_lock(lock);
  return 0;
}

int __real_pthread_rwlock_destroy(pthread_rwlock_t* lock);
int __wrap_pthread_rwlock_destroy(pthread_rwlock_t* lock) {
  if (running_process() == nullptr) return __real_pthread_rwlock_destroy(lock);
  const LibraryCall call("pthread_rwlock_destroy");
  locks_of(call).initialize_shared_lock(lock);
  return 0;
}

int __real_pthread_rwlock_rdlock(pthread_rwlock_t* lock);
int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  if (running_process() == nullptr) return __real_pthread_rwlock_rdlock(lock);
  const LibraryCall call("pthread_rwlock_rdlock");
  call.let_others_go_on();
  return locks_of(call).lock_shared(lock, never_ns);
}

int __real_pthread_rwlock_tryrdlock(pthread_rwlock_t* lock);
int __wrap_pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  if (running_process() == nullptr) return __real_pthread_rwlock_tryrdlock(lock);
  const LibraryCall call("pthread_rwlock_tryrdlock");
  call.let_others_go_on();
  return locks_of(call).lock_shared(lock, library::no_wait);
}

int __real_pthread_rwlock_wrlock(pthread_rwlock_t* lock);
int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  if (running_process() == nullptr) return __real_pthread_rwlock_wrlock(lock);
  const LibraryCall call("pthread_rwlock_wrlock");
  call.let_others_go_on();
  return locks_of(call).lock_exclusive(lock, call.thread(), never_ns);
}

int __real_pthread_rwlock_trywrlock(pthread_rwlock_t* lock);
int __wrap_pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  if (running_process() == nullptr) return __real_pthread_rwlock_trywrlock(lock);
  const LibraryCall call("pthread_rwlock_trywrlock");
  call.let_others_go_on();
  return locks_of(call).lock_exclusive(lock, call.thread(), library::no_wait);
}

int __real_pthread_rwlock_unlock(pthread_rwlock_t* lock);
int __wrap_pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  if (running_process() == nullptr) return __real_pthread_rwlock_unlock(lock);
  const LibraryCall call("pthread_rwlock_unlock");
  call.let_others_go_on();
  return locks_of(call).unlock_shared_lock(lock, call.thread());
}

int __real_pthread_spin_init(pthread_spinlock_t* lock, int shared);
int __wrap_pthread_spin_init(pthread_spinlock_t* lock, int shared) {
  if (running_process() == nullptr) return __real_pthread_spin_init(lock, shared);
  const LibraryCall call("pthread_spin_init");
  locks_of(call).initialize_mutex(library::plain(lock), library::Locks::MutexKind::normal);
  return 0;
}

int __real_pthread_spin_destroy(pthread_spinlock_t* lock);
int __wrap_pthread_spin_destroy(pthread_spinlock_t* lock) {
  if (running_process() == nullptr) return __real_pthread_spin_destroy(lock);
  const LibraryCall call("pthread_spin_destroy");
  return locks_of(call).destroy_mutex(library::plain(lock));
}

int __real_pthread_spin_lock(pthread_spinlock_t* lock);
int __wrap_pthread_spin_lock(pthread_spinlock_t* lock) {
  if (running_process() == nullptr) return __real_pthread_spin_lock(lock);
  const LibraryCall call("pthread_spin_lock");
  call.let_others_go_on();
  return locks_of(call).lock(library::plain(lock), call.thread(), never_ns);
}

int __real_pthread_spin_trylock(pthread_spinlock_t* lock);
int __wrap_pthread_spin_trylock(pthread_spinlock_t* lock) {
  if (running_process() == nullptr) return __real_pthread_spin_trylock(lock);
  const LibraryCall call("pthread_spin_trylock");
  call.let_others_go_on();
  return locks_of(call).lock(library::plain(lock), call.thread(), library::no_wait);
}

int __real_pthread_spin_unlock(pthread_spinlock_t* lock);
int __wrap_pthread_spin_unlock(pthread_spinlock_t* lock) {
  if (running_process() == nullptr) return __real_pthread_spin_unlock(lock);
  const LibraryCall call("pthread_spin_unlock");
  call.let_others_go_on();
  return locks_of(call).unlock(library::plain(lock), call.thread());
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
