// The C library's functions of mutexes, locks of readers and writers, and spin locks. A processor
// may be taken away from a thread before each of them.
#include <pthread.h>

#include <ctime>

#include "simulated_verbs/library_call.h"
#include "simulated_verbs/lock_calls.h"

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.

namespace falafel::simulated_verbs {

namespace {

Locks::MutexKind kind_of(const pthread_mutexattr_t* attributes) {
  int type = PTHREAD_MUTEX_NORMAL;
  if (attributes != nullptr) pthread_mutexattr_gettype(attributes, &type);
  if (type == PTHREAD_MUTEX_RECURSIVE) return Locks::MutexKind::recursive;
  return type == PTHREAD_MUTEX_ERRORCHECK ? Locks::MutexKind::error_checking
                                          : Locks::MutexKind::normal;
}

// Spin locks are volatile.
const void* plain(const pthread_spinlock_t* lock) { return const_cast<const int*>(lock); }

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

int __real_pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* time);
int __wrap_pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* time) {
  if (running_process() == nullptr) return __real_pthread_mutex_clocklock(mutex, clock, time);
  const LibraryCall call("pthread_mutex_clocklock");
  call.let_others_go_on();
  return locks_of(call).lock(mutex, call.thread(), library::deadline_of(call.host(), clock, *time));
}

int __real_pthread_mutex_unlock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t* mutex) {
  if (running_process() == nullptr) return __real_pthread_mutex_unlock(mutex);
  const LibraryCall call("pthread_mutex_unlock");
  call.let_others_go_on();
  return locks_of(call).unlock(mutex, call.thread());
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

int __real_pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* time);
int __wrap_pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* time) {
  if (running_process() == nullptr) return __real_pthread_rwlock_timedrdlock(lock, time);
  const LibraryCall call("pthread_rwlock_timedrdlock");
  call.let_others_go_on();
  return locks_of(call).lock_shared(lock, library::deadline_of(call.host(), CLOCK_REALTIME, *time));
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

int __real_pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* time);
int __wrap_pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* time) {
  if (running_process() == nullptr) return __real_pthread_rwlock_timedwrlock(lock, time);
  const LibraryCall call("pthread_rwlock_timedwrlock");
  call.let_others_go_on();
  return locks_of(call).lock_exclusive(lock, call.thread(),
                                       library::deadline_of(call.host(), CLOCK_REALTIME, *time));
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
}
// NOLINTEND(readability-identifier-naming)
