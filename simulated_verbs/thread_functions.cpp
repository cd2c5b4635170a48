// The C library's functions of threads. Parts of the system that are linked into the program call
// them, too, such as the run time of a sanitizer: keys that no simulated process made are theirs,
// and what they ask of a simulated thread is answered for the system's thread that runs it.
#include <pthread.h>

#include <cerrno>
#include <cstdlib>

#include "simulated_verbs/library_call.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/threads.h"

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.

namespace library = falafel::simulated_verbs;
using library::LibraryCall;
using library::running_process;

namespace {

bool is_of_system(pthread_key_t key) {
  return running_process() == nullptr || key < library::Threads::first_key;
}

}  // namespace

extern "C" {

int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                          void* (*function)(void*), void* argument);
int __real_pthread_join(pthread_t thread, void** result);
int __real_pthread_tryjoin_np(pthread_t thread, void** result);
int __real_pthread_detach(pthread_t thread);
pthread_t __real_pthread_self();
int __real_pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes);
[[noreturn]] void __real_pthread_exit(void* result);
int __real_pthread_cancel(pthread_t thread);
int __real_pthread_key_create(pthread_key_t* key, void (*destructor)(void*));
int __real_pthread_key_delete(pthread_key_t key);
void* __real_pthread_getspecific(pthread_key_t key);
int __real_pthread_setspecific(pthread_key_t key, const void* value);
[[noreturn]] void __real_exit(int status);

int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                          void* (*function)(void*), void* argument) {
  if (running_process() == nullptr) {
    return __real_pthread_create(thread, attributes, function, argument);
  }
  const LibraryCall call("pthread_create");
  int state = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &state);
  *thread = call.process()
                .threads()
                .start(state == PTHREAD_CREATE_DETACHED,
                       [function, argument] { return function(argument); })
                .number();
  call.let_others_go_on();
  return 0;
}

int __wrap_pthread_join(pthread_t thread, void** result) {
  if (running_process() == nullptr) return __real_pthread_join(thread, result);
  const LibraryCall call("pthread_join");
  return call.process().threads().join(call.thread(), thread, result);
}

int __wrap_pthread_tryjoin_np(pthread_t thread, void** result) {
  if (running_process() == nullptr) return __real_pthread_tryjoin_np(thread, result);
  const LibraryCall call("pthread_tryjoin_np");
  call.let_others_go_on();
  return call.process().threads().try_join(call.thread(), thread, result);
}

int __wrap_pthread_detach(pthread_t thread) {
  if (running_process() == nullptr) return __real_pthread_detach(thread);
  const LibraryCall call("pthread_detach");
  return call.process().threads().detach(thread);
}

pthread_t __wrap_pthread_self() {
  if (running_process() == nullptr) return __real_pthread_self();
  const LibraryCall call("pthread_self");
  return call.thread().number();
}

int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) {
  const pthread_t asked = running_process() == nullptr ? thread : __real_pthread_self();
  return __real_pthread_getattr_np(asked, attributes);
}

[[noreturn]] void __wrap_pthread_exit(void* result) {
  if (running_process() == nullptr) __real_pthread_exit(result);
  throw library::ThreadExit{result};
}

int __wrap_pthread_cancel(pthread_t thread) {
  if (running_process() == nullptr) return __real_pthread_cancel(thread);
  library::report_not_simulated("pthread_cancel");
  return ENOSYS;
}

int __wrap_pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) {
  if (running_process() == nullptr) return __real_pthread_key_create(key, destructor);
  const LibraryCall call("pthread_key_create");
  *key = call.process().threads().add_key(destructor);
  return 0;
}

int __wrap_pthread_key_delete(pthread_key_t key) {
  if (is_of_system(key)) return __real_pthread_key_delete(key);
  const LibraryCall call("pthread_key_delete");
  return call.process().threads().remove_key(key) ? 0 : EINVAL;
}

void* __wrap_pthread_getspecific(pthread_key_t key) {
  if (is_of_system(key)) return __real_pthread_getspecific(key);
  const LibraryCall call("pthread_getspecific");
  return call.thread().value(key);
}

int __wrap_pthread_setspecific(pthread_key_t key, const void* value) {
  if (is_of_system(key)) return __real_pthread_setspecific(key, value);
  const LibraryCall call("pthread_setspecific");
  if (!call.process().threads().has_key(key)) return EINVAL;
  call.thread().set_value(key, const_cast<void*>(value));
  return 0;
}

// Ends the process of the host.
[[noreturn]] void __wrap_exit(int status) {
  if (running_process() == nullptr) __real_exit(status);
  const LibraryCall call("exit");
  if (call.thread().number() != 1) {
    library::report_not_simulated("exit in another thread than main's");
    std::abort();
  }
  throw library::ProcessExit{status};
}
}
// NOLINTEND(readability-identifier-naming)
